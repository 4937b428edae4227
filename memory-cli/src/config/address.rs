//! Settings that are addresses of servers.

use memory_agent::model::{ServerAddress, is_host};
use memory_core::ParseError;

/// Checks a new value of `key` if the setting is the address of a server or a host. An empty value is the default.
///
/// A file that contains an invalid address is accepted, so that all that needs no server works; the address is rejected on use.
pub(crate) fn check_address(key: &str, value: &str) -> Result<(), ParseError> {
    let text = value.trim();
    if key.ends_with("base_url") {
        let address = ServerAddress::from(text);
        let wanted = "the URL of a server, such as https://api.openai.com/v1 or http://localhost:11434/v1: http:// or https:// and a \
                      host, without a user name, query or fragment";
        // An address with a password is not shown.
        let invalid = !text.is_empty() && !address.is_url();
        return if invalid {
            Err(ParseError::new(&address.to_string(), wanted))
        } else {
            Ok(())
        };
    }
    let invalid = key == "proxy.host" && !text.is_empty() && !is_host(text);
    if invalid {
        let wanted = "a host name or an IP address without a port, such as 127.0.0.1 or localhost";
        Err(ParseError::new(text, wanted))
    } else {
        Ok(())
    }
}
