//! The devices that are paired with the page, and their file.
//!
//! A device keeps a random token in a cookie; the file has only its hash. Every request reads the file, so a device that was revoked by
//! any process is refused at once.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use memory_core::{Code, ContentHash, ToolError};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::sessions::{WebSession, random_text};
use super::state::WebHost;

/// Time after which a device has to be paired again.
pub(super) const LIFETIME: TimeDelta = TimeDelta::days(90);

/// Time between two records of the last request of a device.
const SEEN_INTERVAL: TimeDelta = TimeDelta::minutes(10);

/// Maximum number of devices; a further one replaces the one that was not used for the longest time.
const MAX_DEVICES: usize = 16;

/// Maximum length of the name of a device, in characters.
const MAX_NAME: usize = 40;

/// A device that uses the page from the network.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PairedDevice {
    /// The id, for revoking it.
    pub id: String,
    /// The name, such as `iPhone`.
    pub name: String,
    /// The hash of the token in its cookie.
    token_sha256: String,
    /// The time of its sign-in.
    pub paired_at: DateTime<Utc>,
    /// The time of its last request, to about ten minutes.
    pub last_seen: DateTime<Utc>,
    #[serde(flatten)]
    other: Map<String, Value>,
}

/// The paired devices, as their file contains them.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct PairedDevices {
    devices: Vec<PairedDevice>,
    #[serde(flatten)]
    other: Map<String, Value>,
}

impl PairedDevices {
    /// Reads the text of the file; a missing file has no devices.
    ///
    /// # Errors
    /// If the text is damaged.
    pub fn parse(text: Option<&str>) -> Result<Self, ToolError> {
        let Some(text) = text else {
            return Ok(Self::default());
        };
        serde_json::from_str(text).map_err(|error| {
            ToolError::new(
                Code::InvalidInput,
                format!("the list of paired devices is damaged: {error}"),
                Some("delete devices/devices.json in the home, and pair the devices again".into()),
            )
        })
    }

    /// Returns the text of the file.
    pub fn to_text(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// Returns the devices whose time has not ended, the last paired one first.
    pub fn active(&self, now: DateTime<Utc>) -> Vec<&PairedDevice> {
        let mut active: Vec<_> = self
            .devices
            .iter()
            .filter(|device| device.is_active(now))
            .collect();
        active.sort_by_key(|device| std::cmp::Reverse(device.paired_at));
        active
    }

    /// Removes the device with an id; returns whether there was one.
    pub fn revoke(&mut self, id: &str) -> bool {
        let before = self.devices.len();
        self.devices.retain(|device| device.id != id);
        self.devices.len() < before
    }

    fn find(&self, token_sha256: &str, now: DateTime<Utc>) -> Option<&PairedDevice> {
        self.devices
            .iter()
            .find(|device| device.token_sha256 == token_sha256 && device.is_active(now))
    }

    fn add(&mut self, device: PairedDevice, now: DateTime<Utc>) {
        self.devices.retain(|device| device.is_active(now));
        if MAX_DEVICES <= self.devices.len() {
            let unused = self.devices.iter().min_by_key(|device| device.last_seen);
            let unused = unused.map(|device| device.id.clone()).unwrap_or_default();
            self.revoke(&unused);
        }
        self.devices.push(device);
    }
}

impl PairedDevice {
    fn is_active(&self, now: DateTime<Utc>) -> bool {
        now.signed_duration_since(self.paired_at) < LIFETIME
    }
}

/// Pairs a device with this name, and returns its session.
pub(super) fn pair(
    host: &dyn WebHost,
    name: &str,
    now: DateTime<Utc>,
) -> Result<Arc<WebSession>, ToolError> {
    let (token, id) = (random_text()?, random_text()?);
    let device = PairedDevice {
        id: id.chars().take(8).collect(),
        name: name.chars().take(MAX_NAME).collect(),
        token_sha256: ContentHash::of(&token).to_string(),
        paired_at: now,
        last_seen: now,
        other: Map::new(),
    };
    let session = WebSession::of_device(&token, &device.id);
    host.change_devices(&mut |text| {
        let mut devices = PairedDevices::parse(text)?;
        devices.add(device.clone(), now);
        Ok(devices.to_text())
    })?;
    Ok(session)
}

/// Returns the session of the device with a token, unless it was revoked or its time has ended.
pub(super) fn find(
    host: &dyn WebHost,
    token: &str,
    now: DateTime<Utc>,
) -> Result<Option<Arc<WebSession>>, ToolError> {
    let hash = ContentHash::of(token).to_string();
    let devices = PairedDevices::parse(host.devices()?.as_deref())?;
    let Some(found) = devices.find(&hash, now) else {
        return Ok(None);
    };
    if SEEN_INTERVAL <= now.signed_duration_since(found.last_seen) {
        // The time is only information: a full disk locks no device out.
        let _ = host.change_devices(&mut |text| {
            let mut devices = PairedDevices::parse(text)?;
            let own = devices
                .devices
                .iter_mut()
                .find(|device| device.token_sha256 == hash);
            if let Some(own) = own {
                own.last_seen = now;
            }
            Ok(devices.to_text())
        });
    }
    Ok(Some(WebSession::of_device(token, &found.id)))
}

/// Returns whether a device is still paired.
pub(super) fn is_paired(host: &dyn WebHost, id: &str, now: DateTime<Utc>) -> bool {
    let devices = host
        .devices()
        .and_then(|text| PairedDevices::parse(text.as_deref()));
    devices.is_ok_and(|devices| devices.active(now).iter().any(|device| device.id == id))
}

/// Removes a device; returns whether it was paired.
pub(super) fn revoke(host: &dyn WebHost, id: &str) -> Result<bool, ToolError> {
    let mut was_paired = false;
    host.change_devices(&mut |text| {
        let mut devices = PairedDevices::parse(text)?;
        was_paired = devices.revoke(id);
        Ok(devices.to_text())
    })?;
    Ok(was_paired)
}

/// Gives a device another name, which a person chose.
pub(super) fn rename(host: &dyn WebHost, id: &str, name: &str) -> Result<(), ToolError> {
    host.change_devices(&mut |text| {
        let mut devices = PairedDevices::parse(text)?;
        for own in devices.devices.iter_mut().filter(|own| own.id == id) {
            own.name = name.chars().take(MAX_NAME).collect();
        }
        Ok(devices.to_text())
    })
}

/// Returns the name of a device by the header `User-Agent` of its browser.
pub(super) fn name_of_browser(agent: &str) -> &'static str {
    let names = [
        ("iPhone", "iPhone"),
        ("iPad", "iPad"),
        ("Android", "Android device"),
        ("CrOS", "Chromebook"),
        ("Macintosh", "Mac"),
        ("Windows", "Windows computer"),
        ("Linux", "Linux computer"),
    ];
    let found = names.iter().find(|(part, _)| agent.contains(part));
    found.map_or("Device", |(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_ends_by_time_or_number_and_unknown_keys_of_its_file_stay() {
        let now: DateTime<Utc> = "2026-05-01T10:00:00Z".parse().unwrap();
        let device = |number: usize| PairedDevice {
            id: number.to_string(),
            name: "iPhone".into(),
            token_sha256: format!("hash {number}"),
            paired_at: now,
            last_seen: now + TimeDelta::minutes(i64::try_from(number).unwrap()),
            other: Map::new(),
        };
        let mut devices = PairedDevices::parse(Some(r#"{"devices":[],"later":1}"#)).unwrap();
        for number in 0..=MAX_DEVICES {
            devices.add(device(number), now);
        }
        let mut devices = PairedDevices::parse(Some(&devices.to_text())).unwrap();
        assert_eq!(devices.active(now).len(), MAX_DEVICES);
        assert!(devices.find("hash 0", now).is_none(), "it was the oldest");
        assert!(devices.find("hash 1", now).is_some());
        assert!(devices.find("hash 1", now + LIFETIME).is_none());
        assert!(devices.revoke("1") && !devices.revoke("1"));
        assert!(devices.find("hash 1", now).is_none());
        assert!(devices.to_text().contains("\"later\": 1"));
        assert!(PairedDevices::parse(Some("{")).is_err());
        assert_eq!(name_of_browser("Mozilla/5.0 (iPhone; CPU)"), "iPhone");
        assert_eq!(name_of_browser(""), "Device");
    }
}
