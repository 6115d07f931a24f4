//! A headless Chromium, told what to do over the DevTools protocol: JSON
//! messages through two pipes, each ended by a zero byte.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// A loaded machine takes its time; a browser that is gone is noticed at once.
const PATIENCE: Duration = Duration::from_secs(120);

/// Where it is, if it is anywhere.
pub fn chromium() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("CHROMIUM").filter(|name| !name.is_empty()) {
        return Some(named.into());
    }
    let path = std::env::var_os("PATH")?;
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let mut all = std::env::split_paths(&path).flat_map(|dir| names.map(|name| dir.join(name)));
    all.find(|file| file.is_file())
}

pub struct Browser {
    child: Child,
    input: ChildStdin,
    output: Receiver<Value>,
    calls: u64,
    session: Option<String>,
    /// What happened, besides answers.
    pub events: Vec<Value>,
}

impl Browser {
    /// With a profile of its own in `home`, and one page open.
    pub fn start(program: &Path, home: &Path) -> Browser {
        // It reads from 3 and writes to 4; no Rust of ours can hand over those.
        let mut child = Command::new("sh")
            .args(["-c", "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null"])
            .arg(program)
            .args(["--headless=new", "--remote-debugging-pipe", "--no-sandbox"])
            .args(["--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"])
            .args(["--disable-extensions", "--disable-background-networking"])
            .args(["--hide-scrollbars", "--mute-audio"])
            .arg(format!(
                "--user-data-dir={}",
                home.join("profile").display()
            ))
            .arg("about:blank")
            .env("HOME", home)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("sh runs");
        let (send, output) = channel();
        let mut replies = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            let mut message = Vec::new();
            while replies.read_until(0, &mut message).is_ok_and(|n| n > 0) {
                let whole = message.strip_suffix(b"\0").unwrap_or(&message);
                let Ok(value) = serde_json::from_slice(whole) else {
                    break;
                };
                if send.send(value).is_err() {
                    break;
                }
                message.clear();
            }
        });
        let mut browser = Browser {
            input: child.stdin.take().unwrap(),
            child,
            output,
            calls: 0,
            session: None,
            events: Vec::new(),
        };
        let target = browser.call("Target.createTarget", json!({ "url": "about:blank" }));
        let target = json!({ "targetId": target["targetId"], "flatten": true });
        let attached = browser.call("Target.attachToTarget", target);
        browser.session = attached["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Network", "Log"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        browser
    }

    /// Calls a method and waits for its answer.
    pub fn call(&mut self, method: &str, params: Value) -> Value {
        self.calls += 1;
        let id = self.calls;
        let mut message = json!({ "id": id, "method": method, "params": params });
        if let Some(session) = &self.session {
            message["sessionId"] = session.as_str().into();
        }
        let mut bytes = serde_json::to_vec(&message).unwrap();
        bytes.push(0);
        self.input.write_all(&bytes).expect("the browser listens");
        loop {
            let message = self.receive(method);
            if message["id"] == id {
                assert!(message.get("error").is_none(), "{method}: {message}");
                return message["result"].clone();
            }
            self.events.push(message);
        }
    }

    fn receive(&mut self, waiting_for: &str) -> Value {
        let message = self.output.recv_timeout(PATIENCE);
        message.unwrap_or_else(|e| panic!("the browser does not answer {waiting_for}: {e}"))
    }

    /// Goes there and waits until it is loaded and drawn.
    pub fn open(&mut self, url: &str) {
        self.events.clear();
        self.call("Page.navigate", json!({ "url": url }));
        let loaded = |event: &Value| event["method"] == "Page.loadEventFired";
        while !self.events.iter().any(loaded) {
            let event = self.receive("a page");
            self.events.push(event);
        }
        self.drawn();
    }

    /// Waits until everything that was asked for is on the screen.
    pub fn drawn(&mut self) {
        let frames = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))";
        self.evaluate(frames);
    }

    /// The value of an expression.
    pub fn evaluate(&mut self, expression: &str) -> Value {
        let params =
            json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let answer = self.call("Runtime.evaluate", params);
        assert!(
            answer.get("exceptionDetails").is_none(),
            "{expression}: {answer}"
        );
        answer["result"]["value"].clone()
    }

    /// Presses and releases a key.
    pub fn press(&mut self, key: &str) {
        let mut params = json!({ "key": key, "type": "keyDown" });
        if key.chars().count() == 1 {
            params["text"] = key.into();
        }
        self.call("Input.dispatchKeyEvent", params);
        self.call(
            "Input.dispatchKeyEvent",
            json!({ "key": key, "type": "keyUp" }),
        );
        self.drawn();
    }

    /// Of this size, light or dark.
    pub fn screen(&mut self, width: u32, height: u32, scheme: &str) {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600 });
        self.call("Emulation.setDeviceMetricsOverride", size);
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.call(
            "Emulation.setEmulatedMedia",
            json!({ "features": features }),
        );
    }

    /// A picture of the page, as base64.
    pub fn picture(&mut self) -> String {
        let picture = self.call("Page.captureScreenshot", json!({ "format": "png" }));
        picture["data"].as_str().unwrap().to_owned()
    }

    /// Everything that should not happen on a page that is in order.
    pub fn complaints(&self) -> Vec<String> {
        let wrong = |event: &&Value| match event["method"].as_str().unwrap_or_default() {
            "Runtime.exceptionThrown" | "Page.javascriptDialogOpening" => true,
            "Runtime.consoleAPICalled" | "Log.entryAdded" => true,
            "Network.requestWillBeSent" => {
                let url = event["params"]["request"]["url"]
                    .as_str()
                    .unwrap_or_default();
                let own = event["params"]["type"] == "Document" && url.starts_with("file:");
                !own && !url.starts_with("data:")
            }
            _ => false,
        };
        self.events
            .iter()
            .filter(wrong)
            .map(Value::to_string)
            .collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The shell has become the browser; its helpers end with it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
