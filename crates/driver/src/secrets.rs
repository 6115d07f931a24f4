//! Secrets in our own environment. They are for this process: the programs that it starts do not inherit them.

use std::process::Command;

/// How to be let in by the server of campaigns.
pub const USER: &str = "PHOTOFINISH_NATS_USER";
pub const PASSWORD: &str = "PHOTOFINISH_NATS_PASSWORD";
pub const TOKEN: &str = "PHOTOFINISH_NATS_TOKEN";

/// Leaves them out of the environment of a command.
pub fn remove(command: &mut Command) {
    for name in [USER, PASSWORD, TOKEN] {
        command.env_remove(name);
    }
}
