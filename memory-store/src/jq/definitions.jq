# Builtins that are best said in jq. What a program does not use is not compiled.
def values: select(. != null);
def nulls: select(. == null);
def booleans: select(type == "boolean");
def numbers: select(type == "number");
def strings: select(type == "string");
def arrays: select(type == "array");
def objects: select(type == "object");
def iterables: select(type == "array" or type == "object");
def scalars: select(type != "array" and type != "object");
def isvalid(f): try (f | true) catch false;
def isfinite: type == "number" and (isinfinite | not);
def finites: select(isfinite);
def normals: select(isnormal);

def select(f): if f then . else empty end;
def map(f): [.[] | f];
def map_values(f): .[] |= f;
def recurse: ..;
def recurse(f): def again: ., (f | again); again;
def recurse(f; condition): def again: ., (f | select(condition) | again); again;
def error(message): message | error;
def halt_error: halt_error(5);
def debug(messages): (messages | empty), .;
def env: {};
def input_filename: null;
def input_line_number: 0;
def get_search_list: [];
def have_literal_numbers: true;
def have_decnum: true;
def modulemeta: error("modules are not supported: cannot find " + tojson);
def inputs: def again: (try input catch if . == "No more inputs" then empty else error end) | (., again); again;

def add(f): reduce f as $value (null; . + $value);
def first: .[0];
def last: .[-1];
def nth($index): .[$index];
def nth($index; f):
  if $index < 0 then error("nth doesn't support negative indices") else first(skip($index; f)) end;
def limit($count; f):
  if $count < 0 then error("limit doesn't support negative count") else _limit($count; f) end;
def skip($count; f):
  if $count < 0 then error("skip doesn't support negative count") else _skip($count; f) end;
def range($end): range(0; $end);
def while(condition; next): def again: if condition then ., (next | again) else empty end; again;
def until(condition; next): def again: if condition then . else next | again end; again;
def repeat(f): def again: f, again; again;
def isempty(f): first((f | false), true);
def any(f; condition): isempty(first(f | condition | select(.))) | not;
def all(f; condition): isempty(first(f | condition | select(. | not)));
def any(condition): any(.[]; condition);
def all(condition): all(.[]; condition);
def any: any(.[]; .);
def all: all(.[]; .);
def IN(f): . as $value | any(f; . == $value);
def IN(f; g): any(f; IN(g));
def in(f): . as $key | f | has($key);
def inside(f): . as $part | f | contains($part);
def INDEX(f; key): reduce f as $row ({}; .[$row | key | tostring] = $row);
def INDEX(key): INDEX(.[]; key);
def JOIN($index; key): [.[] | [., $index[key]]];
def JOIN($index; f; key): f | [., $index[key]];
def JOIN($index; f; key; joined): f | [., $index[key]] | joined;

def sort_by(f): _sort_by(map([f]));
def group_by(f): _group_by(map([f]));
def unique_by(f): _unique_by(map([f]));
def min: _min_by(.);
def max: _max_by(.);
def min_by(f): _min_by(map([f]));
def max_by(f): _max_by(map([f]));
def flatten: _flatten(null);
def flatten($depth):
  if $depth < 0 then error("flatten depth must not be negative") else _flatten($depth) end;
def from_entries:
  reduce .[] as $entry ({}; . + ($entry | {
    (.key // .Key // .name // .Name): (if has("value") then .value else .Value end) }));
def to_entries: [keys_unsorted[] as $key | { key: $key, value: .[$key] }];
def with_entries(f): to_entries | map(f) | from_entries;
def toarray: if type == "array" then . else [.] end;
def transpose: [range(map(length) | max // 0) as $index | [.[][$index]]];
def combinations:
  if length == 0 then [] else .[0][] as $head | .[1:] | combinations | [$head] + . end;
def combinations($count): [range($count) as $round | .] | combinations;
def walk(f): def again: (if type == "array" then map(again) elif type == "object" then map_values(again) else . end) | f; again;

def paths: path(..) | select(. != []);
def paths(condition): path(.. | select(condition)) | select(. != []);
def leaf_paths: paths(scalars);
def del(f): delpaths([path(f)]);
def pick(f): . as $whole | reduce path(f) as $path (null; setpath($path; $whole | getpath($path)));
def fromstream(f):
  foreach f as $event ({};
    (if .done then {} else . end)
    | if $event | length == 2
      then .done = ($event[0] == []) | setpath(["value"] + $event[0]; $event[1])
      else .done = ($event[0] | length == 1) end;
    select(.done) | .value);
def truncate_stream(f): . as $depth | null | f | select(.[0] | length > $depth) | .[0] |= .[$depth:];

def indices($sought):
  if type == "string" and ($sought | type) == "string" then _strindices($sought)
  elif type == "array" and ($sought | type) != "array" then .[[$sought]]
  else .[$sought] end;
def index($sought): indices($sought) | .[0];
def rindex($sought): indices($sought) | .[-1:][0];
def join($separator):
  reduce .[] as $piece (null;
    (if . == null then "" else . + $separator end)
    + ($piece | if type == "boolean" or type == "number" then tostring else . // "" end))
  // "";
def ltrimstr($prefix): if startswith($prefix) then .[$prefix | length:] else . end;
def rtrimstr($suffix):
  if endswith($suffix) then .[:length - ($suffix | length)] else . end;
def trimstr($affix): ltrimstr($affix) | rtrimstr($affix);
def ascii: [.] | implode;

def _pattern:
  if type == "string" then [., null]
  elif type == "array" and length > 0 then [.[0], .[1]]
  else error(type + " not a string or array") end;
def _captured:
  reduce (.captures[] | select(.name != null)) as $group ({}; .[$group.name] = $group.string);
def match($pattern; $flags): _match($pattern; $flags; false)[];
def match($pattern): ($pattern | _pattern) as [$pattern, $flags] | match($pattern; $flags);
def test($pattern; $flags): _match($pattern; $flags; true);
def test($pattern): ($pattern | _pattern) as [$pattern, $flags] | test($pattern; $flags);
def capture($pattern; $flags): match($pattern; $flags) | _captured;
def capture($pattern): match($pattern) | _captured;
def scan($pattern; $flags):
  match($pattern; "g" + $flags) | if .captures == [] then .string else [.captures[].string] end;
def scan($pattern): scan($pattern; null);
def split($pattern; $flags): _between([match($pattern; $flags + "g")]);
def splits($pattern; $flags): split($pattern; $flags)[];
def splits($pattern): splits($pattern; null);
def sub($pattern; f; $flags):
  [match($pattern; $flags)] as $found
  | [_replaced($found; [$found[] | _captured | [f]])[]] as $new
  | if $new == [] then . else $new[] end;
def sub($pattern; f): sub($pattern; f; "");
def gsub($pattern; f; $flags): sub($pattern; f; $flags + "g");
def gsub($pattern; f): sub($pattern; f; "g");

def todateiso8601: strftime("%Y-%m-%dT%H:%M:%SZ");
def fromdateiso8601: strptime("%Y-%m-%dT%H:%M:%SZ") | mktime;
def todate: todateiso8601;
def fromdate: fromdateiso8601;
def date: todate;
def dateadd(unit; $count): . + $count;
def datesub(unit; $count): . - $count;
