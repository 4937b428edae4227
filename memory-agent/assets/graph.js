// Graphs: enlarging and moving them, and labels that appear where they have space. Without a script a graph fits the window.

/** The largest number of pixels per unit of a graph. */
const MAX_SCALE = 16;

/** The whole of a graph, as it was before it was enlarged. */
const wholes = new WeakMap();

const boxOf = (graph) => {
  const { x, y, width, height } = graph.viewBox.baseVal;
  return { x, y, width, height };
};

/** Returns the units of a graph per pixel of the window. */
const unitOf = (graph, box) => Math.max(box.width / graph.clientWidth, box.height / graph.clientHeight) || 1;

/** Shows a part of a graph. Labels keep their size, and are visible from the scale at which they overlap no other one. */
function showPart(graph, box) {
  const whole = wholes.get(graph);
  const smallest = (Math.max(graph.clientWidth / whole.width, graph.clientHeight / whole.height) / MAX_SCALE) * whole.width;
  const width = Math.min(Math.max(box.width, smallest), whole.width);
  const height = (width * whole.height) / whole.width;
  const within = (value, start, length, own) => Math.min(Math.max(value, start), start + length - own);
  const x = within(box.x, whole.x, whole.width, width);
  const y = within(box.y, whole.y, whole.height, height);
  graph.setAttribute("viewBox", `${x} ${y} ${width} ${height}`);
  graph.classList.toggle("is-enlarged", width < whole.width);
  const unit = unitOf(graph, { width, height });
  graph.style.setProperty("--unit", unit);
  for (const label of graph.querySelectorAll("[data-from]")) {
    label.classList.toggle("is-shown", Number(label.dataset.from) * unit <= 1);
  }
  // A label that is cut by the edge is no help.
  const area = graph.getBoundingClientRect();
  const shown = [...graph.querySelectorAll(".is-shown")].map((label) => [label, label.getBoundingClientRect()]);
  for (const [label, { left, right }] of shown) {
    if (left < area.left || area.right < right) label.classList.remove("is-shown");
  }
}

/** Enlarges a graph around a point of the window, which stays where it is. */
function zoomGraph(graph, factor, { clientX, clientY } = centreOf(graph)) {
  const box = boxOf(graph);
  const point = new DOMPoint(clientX, clientY).matrixTransform(graph.getScreenCTM().inverse());
  const width = box.width / factor;
  showPart(graph, { width, x: point.x - (point.x - box.x) / factor, y: point.y - (point.y - box.y) / factor });
}

function centreOf(graph) {
  const area = graph.getBoundingClientRect();
  return { clientX: area.x + area.width / 2, clientY: area.y + area.height / 2 };
}

/** Moves a graph by pixels. */
function moveGraph(graph, across, down) {
  const box = boxOf(graph);
  const unit = unitOf(graph, box);
  showPart(graph, { ...box, x: box.x - across * unit, y: box.y - down * unit });
}

const graphOf = (event) => event.target instanceof Element && event.target.closest(".graph");

/** The fingers or the mouse on a graph, by their id. */
const pointers = new Map();
let isDragged = false;

function onPointerMove(event) {
  const graph = graphOf(event);
  const before = pointers.get(event.pointerId);
  if (!graph || !before) return;
  const [across, down] = [event.clientX - before.clientX, event.clientY - before.clientY];
  // A click moves a little.
  if (!isDragged && Math.hypot(across, down) < 4) return;
  isDragged = true;
  graph.setPointerCapture(event.pointerId);
  const other = [...pointers].find(([id]) => id !== event.pointerId)?.[1];
  const { clientX, clientY } = event;
  pointers.set(event.pointerId, { clientX, clientY });
  if (!other) {
    moveGraph(graph, across, down);
    return;
  }
  const distance = (point) => Math.hypot(point.clientX - other.clientX, point.clientY - other.clientY);
  const middle = { clientX: (clientX + other.clientX) / 2, clientY: (clientY + other.clientY) / 2 };
  if (distance(before) > 0) zoomGraph(graph, distance(event) / distance(before), middle);
}

document.addEventListener("pointerdown", (event) => {
  if (!graphOf(event) || event.button !== 0) return;
  if (!pointers.size) isDragged = false;
  pointers.set(event.pointerId, { clientX: event.clientX, clientY: event.clientY });
});
document.addEventListener("pointermove", onPointerMove);
for (const type of ["pointerup", "pointercancel"]) document.addEventListener(type, (event) => pointers.delete(event.pointerId));
document.addEventListener("dragstart", (event) => graphOf(event) && event.preventDefault());
document.addEventListener(
  "click",
  (event) => {
    // The end of a movement opens no link.
    if (isDragged && graphOf(event)) event.preventDefault();
    isDragged = false;
    const button = event.target instanceof Element && event.target.closest("[data-zoom]");
    const graph = button && main().querySelector(".graph");
    if (!graph) return;
    if (button.dataset.zoom === "all") showPart(graph, wholes.get(graph));
    else zoomGraph(graph, button.dataset.zoom === "in" ? 1.5 : 1 / 1.5);
  },
  true,
);
document.addEventListener(
  "wheel",
  (event) => {
    const graph = graphOf(event);
    // A whole graph does not keep the page from scrolling back.
    if (!graph || (event.deltaY > 0 && !graph.classList.contains("is-enlarged"))) return;
    event.preventDefault();
    zoomGraph(graph, 2 ** (-Math.sign(event.deltaY) * Math.min(Math.abs(event.deltaY) / 240, 0.5)), event);
  },
  { passive: false },
);
document.addEventListener("keydown", (event) => {
  const step = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] }[event.key];
  const graph = event.target instanceof Element && event.target.closest(".graph-area")?.querySelector(".graph");
  if (!step || !graph?.classList.contains("is-enlarged")) return;
  event.preventDefault();
  moveGraph(graph, ...step);
});
// A node that gets the focus is moved into the window.
document.addEventListener("focusin", (event) => {
  const graph = graphOf(event);
  if (!graph || isDragged || !event.target.matches(":focus-visible")) return;
  const [node, area] = [event.target.getBoundingClientRect(), graph.getBoundingClientRect()];
  const isOutside = node.left < area.left || area.right < node.right || node.top < area.top || area.bottom < node.bottom;
  if (isOutside) moveGraph(graph, area.x + area.width / 2 - node.x, area.y + area.height / 2 - node.y);
});

/** Prepares the graph of a page that was loaded or replaced. */
function startGraph() {
  const graph = main().querySelector(".graph");
  if (!graph) return;
  if (!wholes.has(graph)) wholes.set(graph, boxOf(graph));
  main().querySelector(".graph-tools").hidden = false;
  showPart(graph, boxOf(graph));
}

addEventListener("resize", startGraph);
startGraph();
