//! The places for connections of a server, which the users and machines that connect share.
//!
//! Every server takes a place for each connection, under the name of its [`PlaceHolder`]. Three rules keep places for everybody:
//!
//! - A holder may take a place while it has fewer than are free. So one holder has at most half of all places, two have a third each, and
//!   a holder without a connection finds a place until all are taken.
//! - A holder that may not take one, or that finds none, gets the place of the connection that has been idle longest: of its own
//!   connections, or of those of the holder with the most places. A connection is idle until a request of it is admitted, and between
//!   requests.
//! - If no connection is idle, a bounded number of connections wait for a limited time; all others are refused at once.

use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, Semaphore};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// The user or the machine at the other end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum PlaceHolder {
    /// A user of this machine.
    User(u32),
    /// A machine, or this one where the system does not report the user. An IPv6 address is that of its network of 64 bits, because a
    /// machine has all addresses of it.
    Address(IpAddr),
}

impl PlaceHolder {
    /// Returns the holder at an address.
    pub(crate) fn of_address(ip: IpAddr) -> Self {
        Self::Address(match ip.to_canonical() {
            IpAddr::V6(ip) => IpAddr::V6(Ipv6Addr::from_bits(ip.to_bits() & !u128::from(u64::MAX))),
            ip @ IpAddr::V4(_) => ip,
        })
    }
}

/// The places of a server.
#[derive(Debug)]
pub(crate) struct Places {
    capacity: usize,
    state: Mutex<PlacesState>,
    /// Notified when a place becomes free or idle.
    changed: Notify,
    /// One permit for each connection that may wait.
    waiting: Semaphore,
}

/// Maximum number of connections that wait for a place.
const MAX_WAITING: usize = 100;

#[derive(Debug, Default)]
struct PlacesState {
    /// The number of the next connection, and of the next change to idle.
    next: u64,
    connections: HashMap<u64, PlacedConnection>,
    /// Only holders that have connections.
    holders: HashMap<PlaceHolder, HeldPlaces>,
}

#[derive(Debug)]
struct PlacedConnection {
    holder: PlaceHolder,
    /// Since which change it is idle, if it is.
    idle_since: Option<u64>,
    evicted: CancellationToken,
}

#[derive(Debug, Default)]
struct HeldPlaces {
    count: usize,
    /// The idle connections, in the order in which they became idle.
    idle: BTreeMap<u64, u64>,
}

impl Places {
    /// Creates places of which one holder can have `per_holder`, and all together twice as many.
    pub(crate) fn new(per_holder: usize) -> Arc<Self> {
        Arc::new(Self {
            capacity: per_holder.saturating_mul(2),
            state: Mutex::default(),
            changed: Notify::new(),
            waiting: Semaphore::new(MAX_WAITING),
        })
    }

    /// Returns a place for a connection, which is idle at first; `None` if there is none within `patience`.
    pub(crate) async fn acquire(
        self: &Arc<Self>,
        holder: PlaceHolder,
        patience: Duration,
    ) -> Option<Arc<Place>> {
        if let Some(place) = self.try_acquire(holder) {
            return Some(place);
        }
        let _waiting = self.waiting.try_acquire().ok()?;
        let wait = async {
            loop {
                let changed = self.changed.notified();
                if let Some(place) = self.try_acquire(holder) {
                    return place;
                }
                changed.await;
            }
        };
        timeout(patience, wait).await.ok()
    }

    fn try_acquire(self: &Arc<Self>, holder: PlaceHolder) -> Option<Arc<Place>> {
        let mut state = self.lock();
        let free = self.capacity - state.connections.len();
        if free <= state.count(holder) {
            let evicted = state.idle_connection(holder)?;
            state.remove(evicted)?.evicted.cancel();
        }
        let evicted = CancellationToken::new();
        let number = state.add(holder, evicted.clone());
        Some(Arc::new(Place {
            number,
            evicted,
            places: Arc::clone(self),
        }))
    }

    fn lock(&self) -> MutexGuard<'_, PlacesState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PlacesState {
    fn count(&self, holder: PlaceHolder) -> usize {
        self.holders.get(&holder).map_or(0, |held| held.count)
    }

    fn next(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    fn add(&mut self, holder: PlaceHolder, evicted: CancellationToken) -> u64 {
        let number = self.next();
        self.connections.insert(
            number,
            PlacedConnection {
                holder,
                idle_since: None,
                evicted,
            },
        );
        self.holders.entry(holder).or_default().count += 1;
        self.set_idle(number, true);
        number
    }

    fn remove(&mut self, number: u64) -> Option<PlacedConnection> {
        self.set_idle(number, false);
        let connection = self.connections.remove(&number)?;
        let held = self.holders.get_mut(&connection.holder)?;
        held.count -= 1;
        if held.count == 0 {
            self.holders.remove(&connection.holder);
        }
        Some(connection)
    }

    /// Sets whether a connection is idle; one that was evicted has no entry any more.
    fn set_idle(&mut self, number: u64, is_idle: bool) {
        let now = self.next();
        let Some(connection) = self.connections.get_mut(&number) else {
            return;
        };
        let Some(held) = self.holders.get_mut(&connection.holder) else {
            return;
        };
        match (connection.idle_since, is_idle) {
            (Some(since), false) => {
                held.idle.remove(&since);
                connection.idle_since = None;
            }
            (None, true) => {
                held.idle.insert(now, number);
                connection.idle_since = Some(now);
            }
            (Some(_), true) | (None, false) => {}
        }
    }

    /// Returns the connection that `holder` may replace: the longest idle one of the holder with the most places.
    ///
    /// A holder loses none to one that would then have more.
    fn idle_connection(&self, holder: PlaceHolder) -> Option<u64> {
        let own = self.count(holder);
        let larger = self
            .holders
            .iter()
            .filter(|(other, held)| own == 0 || own + 1 < held.count || **other == holder)
            .filter_map(|(_, held)| Some((held.count, held.idle.first_key_value()?)));
        larger
            .max_by_key(|(count, (since, _))| (*count, std::cmp::Reverse(**since)))
            .map(|(_, (_, number))| *number)
    }
}

/// The place of a connection, which is free again when dropped.
#[derive(Debug)]
pub(crate) struct Place {
    number: u64,
    evicted: CancellationToken,
    places: Arc<Places>,
}

impl Place {
    /// Completes when another connection took the place.
    pub(crate) async fn evicted(&self) {
        self.evicted.cancelled().await;
    }

    /// Sets whether the connection waits for a request.
    ///
    /// Nobody takes the place of one that does not.
    pub(crate) fn set_idle(&self, is_idle: bool) {
        self.places.lock().set_idle(self.number, is_idle);
        if is_idle {
            self.places.changed.notify_waiters();
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        drop(self.places.lock().remove(self.number));
        self.places.changed.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: PlaceHolder = PlaceHolder::User(1000);
    const OTHER: PlaceHolder = PlaceHolder::User(1001);

    /// Takes places until none is left for a holder.
    fn fill(places: &Arc<Places>, holder: PlaceHolder) -> Vec<Arc<Place>> {
        let busy = || {
            let place = places.try_acquire(holder)?;
            place.set_idle(false);
            Some(place)
        };
        std::iter::from_fn(busy).collect()
    }

    fn is_evicted(place: &Place) -> bool {
        place.evicted.is_cancelled()
    }

    #[test]
    fn one_holder_has_at_most_half_of_the_places_and_the_next_one_finds_one() {
        let places = Places::new(8);
        let others = fill(&places, OTHER);
        assert_eq!(others.len(), 8);
        let third = PlaceHolder::of_address("192.0.2.1".parse().unwrap());
        let counts = [fill(&places, OWN), fill(&places, third)].map(|held| held.len());
        assert_eq!(counts, [4, 2], "half of what is left");
        drop(others);
        assert_eq!(fill(&places, OWN).len(), 8);
        assert!(places.lock().holders.is_empty() && places.lock().connections.is_empty());
    }

    #[test]
    fn however_many_hold_idle_connections_a_new_one_finds_a_place() {
        let places = Places::new(8);
        let idle: Vec<_> = (0..1000)
            .map(|user| places.try_acquire(PlaceHolder::User(user)).unwrap())
            .collect();
        assert_eq!(places.lock().connections.len(), 16);
        assert_eq!(idle.iter().filter(|place| !is_evicted(place)).count(), 16);
        assert!(!is_evicted(&places.try_acquire(OWN).unwrap()));
    }

    #[test]
    fn the_place_of_the_longest_idle_connection_is_taken_and_never_one_in_use() {
        let places = Places::new(2);
        let [first, second] = [(); 2].map(|()| places.try_acquire(OTHER).unwrap());
        first.set_idle(false);
        first.set_idle(true);
        let third = places.try_acquire(OTHER).unwrap();
        assert!(is_evicted(&second) && !is_evicted(&first));
        for place in [&first, &third] {
            place.set_idle(false);
        }
        assert!(places.try_acquire(OTHER).is_none(), "none is idle");
        let own = places.try_acquire(OWN).unwrap();
        third.set_idle(true);
        second.set_idle(true);
        assert!(
            places.try_acquire(OWN).is_some() && is_evicted(&own),
            "an own one, and not one of a holder that has hardly more"
        );
        drop(second);
        assert_eq!(
            places.lock().count(OTHER),
            2,
            "a place that was lost is not given back twice"
        );
    }

    #[test]
    fn who_has_few_places_takes_one_of_who_has_many_and_not_the_other_way_around() {
        let places = Places::new(4);
        let many: Vec<_> = (0..4).map(|_| places.try_acquire(OTHER).unwrap()).collect();
        let own = [(); 2].map(|()| places.try_acquire(OWN).unwrap());
        for place in &own {
            place.set_idle(false);
        }
        let third = places.try_acquire(OWN).unwrap();
        assert!(is_evicted(&many[0]) && !is_evicted(&third));
        own[0].set_idle(true);
        assert!(places.try_acquire(OTHER).is_some());
        assert!(!is_evicted(&own[0]) && is_evicted(&many[1]));
    }

    #[test]
    fn who_waits_gets_the_next_place_and_the_number_of_those_who_wait_is_bounded() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap();
        runtime.block_on(async {
            let places = Places::new(1);
            let held = fill(&places, OWN);
            assert!(places.acquire(OWN, Duration::ZERO).await.is_none());
            let waiting = places.acquire(OWN, Duration::MAX);
            let (found, ()) = tokio::join!(waiting, async { drop(held) });
            found.unwrap().set_idle(false);
            let all = places.waiting.acquire_many(100).await.unwrap();
            let _held = fill(&places, OWN);
            assert!(places.acquire(OWN, Duration::MAX).await.is_none());
            drop(all);
        });
    }

    #[test]
    fn a_machine_is_its_address_and_its_network_of_64_bits() {
        let holder = |ip: &str| PlaceHolder::of_address(ip.parse().unwrap());
        assert_eq!(holder("2001:db8::1"), holder("2001:db8::ffff:1"));
        assert_ne!(holder("2001:db8::1"), holder("2001:db8:0:1::1"));
        assert_eq!(holder("::ffff:192.0.2.1"), holder("192.0.2.1"));
        assert_ne!(holder("192.0.2.1"), holder("192.0.2.2"));
    }
}
