//! The shared store on real services: nginx, Redis, and S3 as moto plays it.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::{FROM_STORE, Machine, key};

/// The longest start of a service.
const START_TIMEOUT: Duration = Duration::from_secs(60);

/// A service on a local port. It ends with this value.
struct Service(Child);

impl Drop for Service {
    fn drop(&mut self) {
        let _gone = self.0.kill();
        let _status = self.0.wait();
    }
}

impl Service {
    /// Starts a program, and returns when the port accepts connections.
    fn start(command: &mut Command, port: u16) -> Self {
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let service = Self(child.unwrap_or_else(|error| panic!("{command:?}: {error}")));
        let late = Instant::now() + START_TIMEOUT;
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(Instant::now() < late, "{command:?} does not listen");
            std::thread::sleep(Duration::from_millis(20));
        }
        service
    }
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").port()
}

/// An nginx that reads with one token and writes with another.
fn nginx(folder: &Path, port: u16) -> Service {
    let at = folder.display();
    let text = format!(
        "daemon off;\nmaster_process off;\nuser root;\npid {at}/pid;\nerror_log {at}/log;\nevents {{}}\nhttp {{\n\
         access_log off;\nclient_body_temp_path {at}/body;\nclient_max_body_size 16m;\n\
         map \"$request_method $http_authorization\" $admitted {{\n\
         \"GET Bearer reads\" 1; \"HEAD Bearer writes\" 1; \"PUT Bearer writes\" 1; default 0;\n}}\n\
         server {{\nlisten 127.0.0.1:{port};\nroot {at}/values;\n\
         if ($admitted = 0) {{ return 401; }}\nlocation / {{ dav_methods PUT; create_full_put_path on; }}\n}}\n}}\n"
    );
    fs::create_dir_all(folder.join("values")).expect("a folder");
    fs::write(folder.join("conf"), text).expect("the settings");
    Service::start(Command::new("nginx").arg("-p").arg(folder).arg("-c").arg(folder.join("conf")), port)
}

/// Lets one machine write its findings, and another with servers of its own read them.
fn exchange(url: &str, variables: &[(&str, &str)]) {
    let (secret, writer) = key("ci");
    let ci = Machine::new(url, &[]);
    ci.check_until_stored();
    let (first, _) = ci.check();
    let writes =
        [variables, &[("LSP_TOOLS_STORE_KEY", &secret), ("LSP_TOOLS_STORE_WRITE_TOKEN", "writes")]].concat();
    for said in ["the findings of 3 files are now in the shared store", "already has the findings of 3 files"]
    {
        let (status, out, errors) = ci.texts(&["store", "push"], &writes);
        assert!(status == Some(0) && out.contains(said), "{url}: {out}{errors}");
    }
    let mut reader = Machine::new(url, &[&writer]);
    reader.servers = reader.project.beside("servers");
    assert_eq!(reader.texts(&["install", "ty", "ruff"], &[]).0, Some(0));
    let reads = [variables, &[("LSP_TOOLS_STORE_READ_TOKEN", "reads")]].concat();
    let (status, out, errors) = reader.texts(&["store", "pull"], &reads);
    assert!(out.contains("are now in the answer store, by ci"), "{url}: {status:?} {out}{errors}");
    let (found, notes) = reader.check();
    assert!(notes.contains(FROM_STORE), "{url}: {notes}");
    assert_eq!(found, first, "{url}");
}

#[test]
#[ignore = "needs nginx, redis-server and moto: just shared-stores"]
fn findings_are_exchanged_through_nginx_redis_and_s3() {
    let (folder, ports) = (tempfile::tempdir().expect("a folder"), [free_port(), free_port(), free_port()]);
    let _nginx = nginx(folder.path(), ports[0]);
    exchange(&format!("http://127.0.0.1:{}/answers", ports[0]), &[]);

    let mut redis = Command::new("redis-server");
    let port = ports[1].to_string();
    redis.args(["--port", &port, "--bind", "127.0.0.1", "--save", "", "--dir"]).arg(folder.path());
    let _redis = Service::start(&mut redis, ports[1]);
    exchange(&format!("redis://127.0.0.1:{port}/1"), &[]);

    let (moto, port) =
        (std::env::var_os("MOTO_SERVER").unwrap_or("moto_server".into()), ports[2].to_string());
    let _moto = Service::start(Command::new(moto).args(["-H", "127.0.0.1", "-p", &port]), ports[2]);
    let endpoint = format!("http://127.0.0.1:{port}");
    // moto lets everybody create a bucket.
    let made = Command::new("curl").args(["-sf", "-X", "PUT", &format!("{endpoint}/answers")]).status();
    assert!(made.expect("curl").success());
    let keys = [("AWS_ACCESS_KEY_ID", "a"), ("AWS_SECRET_ACCESS_KEY", "b")];
    exchange(&format!("s3://answers/of/team?region=eu-west-1&endpoint={endpoint}"), &keys);
}
