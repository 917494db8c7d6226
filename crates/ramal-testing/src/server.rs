//! A small real server of HTTP/1.1 on loopback: keeps what it was asked and plays what it was told to.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

/// What the server does next with an answer.
#[derive(Debug, Clone)]
pub enum Step {
    /// Sends these bytes, in one piece.
    Bytes(Vec<u8>),
    /// Waits.
    Pause(Duration),
    /// Waits until the test opens the gate.
    Until(Gate),
    /// Sends nothing more, but keeps the connection open until the client hangs up.
    Stall,
    /// Closes the connection in the middle of the answer.
    BreakOff,
}

/// Something that an answer waits for until the test opens it.
#[derive(Debug, Clone)]
pub struct Gate(watch::Sender<bool>);

impl Gate {
    /// A closed one.
    pub fn closed() -> Gate {
        Gate(watch::Sender::new(false))
    }

    /// Lets go on what waits for it.
    pub fn open(&self) {
        self.0.send_replace(true);
    }
}

/// One answer of the server.
#[derive(Debug, Clone)]
pub struct Reply {
    /// None: not even the head of an answer is sent.
    status: Option<u16>,
    headers: Vec<(String, String)>,
    steps: Vec<Step>,
}

impl Reply {
    /// A stream of events: `text` as it is to be sent.
    pub fn sse(text: impl Into<String>) -> Reply {
        Reply {
            status: Some(200),
            headers: vec![("content-type".into(), "text/event-stream; charset=utf-8".into())],
            steps: vec![Step::Bytes(text.into().into_bytes())],
        }
    }

    /// A stream of events from pairs of a name (may be empty) and data.
    pub fn events<'a>(events: impl IntoIterator<Item = (&'a str, &'a str)>) -> Reply {
        Reply::sse(sse_text(events))
    }

    /// A document of JSON with a status.
    pub fn json(status: u16, body: &str) -> Reply {
        Reply {
            status: Some(status),
            headers: vec![("content-type".into(), "application/json".into())],
            steps: vec![Step::Bytes(body.as_bytes().to_vec())],
        }
    }

    /// None at all, until the client hangs up.
    pub fn silence() -> Reply {
        Reply { status: None, headers: Vec::new(), steps: vec![Step::Stall] }
    }

    /// One more header.
    pub fn header(mut self, name: &str, value: &str) -> Reply {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Cuts what is sent so far into pieces of `size` bytes, wherever that falls.
    pub fn cut(mut self, size: usize) -> Reply {
        let steps = std::mem::take(&mut self.steps);
        for step in steps {
            match step {
                Step::Bytes(bytes) => {
                    self.steps.extend(bytes.chunks(size).map(|piece| Step::Bytes(piece.to_vec())));
                }
                other => self.steps.push(other),
            }
        }
        self
    }

    /// One more step.
    pub fn then(mut self, step: Step) -> Reply {
        self.steps.push(step);
        self
    }

    /// More text behind the steps so far.
    pub fn text(self, text: &str) -> Reply {
        self.then(Step::Bytes(text.as_bytes().to_vec()))
    }
}

/// Events as they stand in a stream.
pub fn sse_text<'a>(events: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let mut text = String::new();
    for (name, data) in events {
        if !name.is_empty() {
            text += &format!("event: {name}\n");
        }
        text += &format!("data: {data}\n\n");
    }
    text
}

/// A request as it came in.
#[derive(Debug, Clone)]
pub struct Recorded {
    /// `GET`, `POST`.
    pub method: String,
    /// With the query.
    pub path: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// The bytes behind the headers.
    pub body: Vec<u8>,
}

impl Recorded {
    /// The value of a header; the name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The body as JSON.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

/// Nothing takes so long unless it hangs.
const TOO_LONG: Duration = Duration::from_secs(60);

/// What a server has to say and has seen.
struct Shared {
    replies: Mutex<Vec<Reply>>,
    requests: watch::Sender<Vec<Recorded>>,
    hung_up: watch::Sender<Vec<Instant>>,
}

/// The server. It stops when it is dropped.
pub struct Server {
    url: String,
    shared: Arc<Shared>,
    task: tokio::task::JoinHandle<()>,
    /// Where it runs, if that is beside the test.
    runtime: Option<tokio::runtime::Runtime>,
}

impl Server {
    /// Plays `replies` one after the other; the last is played again for every further request. It runs
    /// in the runtime of the test.
    pub async fn start(replies: Vec<Reply>) -> Server {
        assert!(!replies.is_empty());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (requests, hung_up) = (watch::Sender::default(), watch::Sender::default());
        let shared = Arc::new(Shared { replies: Mutex::new(replies), requests, hung_up });
        let of_task = Arc::clone(&shared);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&of_task)));
            }
        });
        Server { url, shared, task, runtime: None }
    }

    /// As [`Server::start`], in a thread of its own: for a test that has no runtime.
    pub fn beside(replies: Vec<Reply>) -> Server {
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = runtime.worker_threads(1).enable_all().build().unwrap();
        let mut server = runtime.block_on(Server::start(replies));
        server.runtime = Some(runtime);
        server
    }

    /// `http://127.0.0.1:port`.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// More replies behind those that there are.
    pub fn script(&self, replies: Vec<Reply>) {
        self.shared.replies.lock().unwrap().extend(replies);
    }

    /// How many replies there are, played or not.
    pub fn scripted(&self) -> usize {
        self.shared.replies.lock().unwrap().len()
    }

    /// What was asked so far.
    pub fn requests(&self) -> Vec<Recorded> {
        self.shared.requests.borrow().clone()
    }

    /// Waits until so many requests came, for a test that has no runtime.
    ///
    /// # Panics
    /// If they do not come.
    #[track_caller]
    pub fn wait_for_request(&self, count: usize) {
        let mut requests = self.shared.requests.subscribe();
        let came = self.wait(async move { requests.wait_for(|all| all.len() >= count).await.is_ok() });
        assert!(came, "request {count} does not come: {} did", self.requests().len());
    }

    /// Waits until clients hung up so many times in the middle of an answer, for a test that has no runtime.
    ///
    /// # Panics
    /// If they do not.
    #[track_caller]
    pub fn wait_for_hang_up(&self, count: usize) {
        let mut hung_up = self.shared.hung_up.subscribe();
        let came = self.wait(async move { hung_up.wait_for(|all| all.len() >= count).await.is_ok() });
        assert!(came, "nobody hangs up");
    }

    fn wait(&self, condition: impl Future<Output = bool>) -> bool {
        let runtime = self.runtime.as_ref().expect("a server beside the test");
        runtime.block_on(async { timeout(TOO_LONG, condition).await.unwrap_or(false) })
    }

    /// Waits until a client hung up in the middle of an answer, and answers when that was; none if no
    /// client does within five seconds.
    pub async fn hang_up(&self) -> Option<Instant> {
        let mut hung_up = self.shared.hung_up.subscribe();
        let found = timeout(Duration::from_secs(5), hung_up.wait_for(|all| !all.is_empty())).await;
        found.ok()?.ok()?.first().copied()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Serves one connection, request by request.
async fn serve(mut stream: TcpStream, shared: Arc<Shared>) {
    let _ = stream.set_nodelay(true);
    let mut rest = Vec::new();
    while let Some(request) = read_request(&mut stream, &mut rest).await {
        let mut number = 0;
        shared.requests.send_modify(|all| {
            number = all.len();
            all.push(request);
        });
        let reply = {
            let replies = shared.replies.lock().unwrap();
            replies[number.min(replies.len() - 1)].clone()
        };
        match play(&mut stream, &reply).await {
            Played::Whole => {}
            Played::BrokeOff => return,
            Played::HungUp => {
                shared.hung_up.send_modify(|all| all.push(Instant::now()));
                return;
            }
        }
    }
}

enum Played {
    Whole,
    BrokeOff,
    HungUp,
}

async fn play(stream: &mut TcpStream, reply: &Reply) -> Played {
    if let Some(status) = reply.status {
        let mut head = format!("HTTP/1.1 {status} Scripted\r\ntransfer-encoding: chunked\r\n");
        for (name, value) in &reply.headers {
            head += &format!("{name}: {value}\r\n");
        }
        head += "\r\n";
        if stream.write_all(head.as_bytes()).await.is_err() {
            return Played::HungUp;
        }
    }
    for step in &reply.steps {
        match step {
            Step::Bytes(bytes) if bytes.is_empty() => {}
            Step::Bytes(bytes) => {
                let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
                chunk.extend_from_slice(bytes);
                chunk.extend_from_slice(b"\r\n");
                if stream.write_all(&chunk).await.is_err() || stream.flush().await.is_err() {
                    return Played::HungUp;
                }
                // Lets the client see the pieces one by one.
                tokio::task::yield_now().await;
            }
            Step::Pause(time) => {
                if gone_within(stream, *time).await {
                    return Played::HungUp;
                }
            }
            Step::Until(gate) => {
                let mut gate = gate.0.subscribe();
                let mut byte = [0];
                tokio::select! {
                    _ = gate.wait_for(|open| *open) => {}
                    _ = stream.read(&mut byte) => return Played::HungUp,
                }
            }
            Step::Stall => {
                gone_within(stream, Duration::from_secs(60)).await;
                return Played::HungUp;
            }
            Step::BreakOff => return Played::BrokeOff,
        }
    }
    match stream.write_all(b"0\r\n\r\n").await {
        Ok(()) => Played::Whole,
        Err(_) => Played::HungUp,
    }
}

/// Whether the client hangs up within `time`. It sends nothing while it is answered.
async fn gone_within(stream: &mut TcpStream, time: Duration) -> bool {
    let mut byte = [0];
    tokio::select! {
        read = stream.read(&mut byte) => !matches!(read, Ok(1..)),
        () = sleep(time) => false,
    }
}

/// The next request of a connection; none when there is none.
async fn read_request(stream: &mut TcpStream, rest: &mut Vec<u8>) -> Option<Recorded> {
    let end = loop {
        if let Some(at) = rest.windows(4).position(|four| four == b"\r\n\r\n") {
            break at;
        }
        if stream.read_buf(rest).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8(rest[..end].to_vec()).unwrap();
    rest.drain(..end + 4);
    let mut lines = head.split("\r\n");
    let mut first = lines.next()?.split(' ');
    let (method, path) = (first.next()?.to_owned(), first.next()?.to_owned());
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length: usize = length.map_or(0, |(_, value)| value.parse().unwrap());
    while rest.len() < length {
        if stream.read_buf(rest).await.ok()? == 0 {
            return None;
        }
    }
    let body = rest.drain(..length).collect();
    Some(Recorded { method, path, headers, body })
}
