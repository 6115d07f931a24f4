//! Who is let in: TLS, certificates of clients, and accounts with credentials, on a real NATS server. (Tokens and
//! passwords are in `queues.rs`.)

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use campaign::nats::{Connection, Server};
use nkeys::KeyPair;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use test_support::nats::{self, NatsServer};
use test_support::trials::{self, skipped, trial};

fn main() {
    let has_openssl = Command::new("openssl")
        .arg("version")
        .stdout(Stdio::null())
        .status();
    let mut all = Vec::new();
    let tls = "nats::certificates_are_checked_on_both_sides";
    all.push(match (nats::program(), has_openssl) {
        (None, _) => skipped(tls, nats::MISSING),
        (_, Err(_)) => skipped(tls, "there is no openssl to make certificates"),
        _ => trial(tls, || block(certificates())),
    });
    let accounts = "nats::credentials_of_an_account_are_used";
    all.push(match nats::program() {
        None => skipped(accounts, nats::MISSING),
        Some(_) => trial(accounts, || block(credentials())),
    });
    trials::run(all);
}

fn block(work: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    runtime.unwrap().block_on(work);
}

async fn refused(connection: &Connection) -> String {
    let answer = Server::connect(connection, "test").await;
    answer.map(drop).unwrap_err().to_string()
}

/// It can be used, for everything that a campaign needs.
async fn allowed(connection: &Connection) {
    let server = Server::connect(connection, "test").await.unwrap();
    assert_eq!(server.names().await.unwrap(), Vec::<String>::new());
}

fn openssl(dir: &Path, args: &[&str]) {
    let done = Command::new("openssl").args(args).current_dir(dir).output();
    let done = done.unwrap();
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "openssl {args:?}: {said}");
}

/// A certificate and its key, signed by `ca`, or by itself.
fn certificate(dir: &Path, name: &str, ca: Option<&str>) -> (PathBuf, PathBuf) {
    let (key, cert) = (format!("{name}.key"), format!("{name}.pem"));
    let subject = format!("/CN={name}");
    let new = [
        "req", "-newkey", "rsa:2048", "-nodes", "-subj", &subject, "-keyout", &key,
    ];
    match ca {
        None => openssl(
            dir,
            &[&new[..], &["-x509", "-days", "2", "-out", &cert]].concat(),
        ),
        Some(ca) => {
            std::fs::write(dir.join("names"), "subjectAltName=IP:127.0.0.1\n").unwrap();
            openssl(dir, &[&new[..], &["-out", "request"]].concat());
            let (by, with) = (format!("{ca}.pem"), format!("{ca}.key"));
            let sign = [
                "x509", "-req", "-in", "request", "-CA", &by, "-CAkey", &with,
            ];
            let out = [
                "-CAcreateserial",
                "-days",
                "2",
                "-extfile",
                "names",
                "-out",
                &cert,
            ];
            openssl(dir, &[&sign[..], &out].concat());
        }
    }
    (dir.join(cert), dir.join(key))
}

async fn certificates() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let (ca, _) = certificate(dir.path(), "ca", None);
    certificate(dir.path(), "stranger", None);
    certificate(dir.path(), "server", Some("ca"));
    let (cert, key) = certificate(dir.path(), "worker", Some("ca"));
    let server = NatsServer::start(
        dir.path(),
        &[
            "--tlsverify",
            "--tlscert",
            &path("server.pem"),
            "--tlskey",
            &path("server.key"),
            "--tlscacert",
            &path("ca.pem"),
        ],
    );
    let full = Connection {
        ca: Some(ca),
        cert: Some(cert),
        key: Some(key),
        ..Connection::new(format!("tls://127.0.0.1:{}", server.port()))
    };
    allowed(&full).await;
    // Signed by nobody that we know; without a certificate of our own; with a stranger's.
    let unknown = Connection {
        ca: None,
        ..full.clone()
    };
    let bare = Connection {
        cert: None,
        key: None,
        ..full.clone()
    };
    let stranger = Connection {
        cert: Some(dir.path().join("stranger.pem")),
        key: Some(dir.path().join("stranger.key")),
        ..full.clone()
    };
    for connection in [unknown, bare, stranger] {
        let said = refused(&connection).await;
        assert!(said.contains("NATS server at tls://127.0.0.1"), "{said}");
    }
    let nowhere = Connection {
        ca: Some(dir.path().join("nowhere.pem")),
        ..full
    };
    let said = refused(&nowhere).await;
    assert!(
        said.contains("cannot read") && said.contains("nowhere.pem"),
        "{said}"
    );
}

/// A token that says what `subject` may, signed by `by`.
fn signed(by: &KeyPair, subject: &KeyPair, name: &str, nats: Value) -> String {
    let part = |value: &Value| BASE64.encode(value.to_string());
    let head = json!({ "typ": "JWT", "alg": "ed25519-nkey" });
    let claims = json!({
        "jti": name, "iat": 1_700_000_000, "iss": by.public_key(), "name": name,
        "sub": subject.public_key(), "nats": nats,
    });
    let text = format!("{}.{}", part(&head), part(&claims));
    let signature = by.sign(text.as_bytes()).unwrap();
    format!("{text}.{}", BASE64.encode(signature))
}

async fn credentials() {
    let dir = tempfile::tempdir().unwrap();
    let (operator, account) = (KeyPair::new_operator(), KeyPair::new_account());
    let (user, stranger) = (KeyPair::new_user(), KeyPair::new_account());
    let whole = signed(
        &operator,
        &operator,
        "us",
        json!({ "type": "operator", "version": 2 }),
    );
    let limits = json!({
        "subs": -1, "data": -1, "payload": -1, "imports": -1, "exports": -1, "wildcards": true,
        "conn": -1, "leaf": -1, "mem_storage": -1, "disk_storage": -1, "streams": -1, "consumer": -1,
    });
    let claims = json!({ "type": "account", "version": 2, "limits": limits });
    let entry = signed(&operator, &account, "team", claims);
    // JetStream asks for an account of the server's own.
    let system = KeyPair::new_account();
    let plain = json!({ "type": "account", "version": 2, "limits": { "conn": -1, "subs": -1, "data": -1, "payload": -1 } });
    let of_system = signed(&operator, &system, "system", plain);
    let config = dir.path().join("server.conf");
    let text = format!(
        "operator: {whole}\nsystem_account: {system}\nresolver: MEMORY\n\
         resolver_preload: {{ {account}: {entry}, {system}: {of_system} }}\n",
        system = system.public_key(),
        account = account.public_key()
    );
    std::fs::write(&config, text).unwrap();
    let server = NatsServer::start(dir.path(), &["-c", config.to_str().unwrap()]);
    // The form that NATS tools write.
    let creds = |by: &KeyPair, file: &str| {
        let claims = json!({ "type": "user", "version": 2, "subs": -1, "data": -1, "payload": -1 });
        let token = signed(by, &user, "worker", claims);
        let seed = user.seed().unwrap();
        let text = format!(
            "-----BEGIN NATS USER JWT-----\n{token}\n------END NATS USER JWT------\n\n\
             -----BEGIN USER NKEY SEED-----\n{seed}\n------END USER NKEY SEED------\n\n\
             *************************************************************\n"
        );
        std::fs::write(dir.path().join(file), text).unwrap();
        Connection {
            creds: Some(dir.path().join(file)),
            ..Connection::new(server.url())
        }
    };
    allowed(&creds(&account, "good.creds")).await;
    for connection in [
        Connection::new(server.url()),
        creds(&stranger, "stranger.creds"),
    ] {
        let said = refused(&connection).await;
        assert!(said.contains("cannot reach the NATS server"), "{said}");
    }
    std::fs::write(dir.path().join("empty.creds"), "nothing\n").unwrap();
    let empty = Connection {
        creds: Some(dir.path().join("empty.creds")),
        ..Connection::new(server.url())
    };
    let said = refused(&empty).await;
    assert!(said.contains("cannot use the credentials in"), "{said}");
}
