//! The reading end of a command's output, given up at will although the other end is open.

use std::io;

/// Bytes that are read at once.
const CHUNK: usize = 32 * 1024;

#[cfg(unix)]
pub(super) struct Pipe {
    receiver: tokio::net::unix::pipe::Receiver,
    buffer: Vec<u8>,
}

#[cfg(unix)]
impl Pipe {
    pub(super) fn new(reader: io::PipeReader) -> io::Result<Pipe> {
        let receiver = tokio::net::unix::pipe::Receiver::from_owned_fd(reader.into())?;
        Ok(Pipe { receiver, buffer: vec![0; CHUNK] })
    }

    /// The next bytes; none at the end. Nothing is lost when it is given up.
    pub(super) async fn read(&mut self) -> Option<&[u8]> {
        use tokio::io::AsyncReadExt;
        match self.receiver.read(&mut self.buffer).await {
            Ok(0) | Err(_) => None,
            Ok(length) => self.buffer.get(..length),
        }
    }
}

#[cfg(not(unix))]
pub(super) struct Pipe {
    chunks: tokio::sync::mpsc::Receiver<Vec<u8>>,
    chunk: Vec<u8>,
}

#[cfg(not(unix))]
impl Pipe {
    pub(super) fn new(mut reader: io::PipeReader) -> io::Result<Pipe> {
        use std::io::Read;
        let (sender, chunks) = tokio::sync::mpsc::channel(4);
        // A thread of its own, since a read of a pipe cannot be given up there.
        std::thread::Builder::new().name("command output".to_owned()).spawn(move || {
            let mut buffer = vec![0; CHUNK];
            while let Ok(length @ 1..) = reader.read(&mut buffer) {
                let chunk = buffer.get(..length).unwrap_or_default().to_vec();
                if sender.blocking_send(chunk).is_err() {
                    break;
                }
            }
        })?;
        Ok(Pipe { chunks, chunk: Vec::new() })
    }

    /// The next bytes; none at the end. Nothing is lost when it is given up.
    pub(super) async fn read(&mut self) -> Option<&[u8]> {
        self.chunk = self.chunks.recv().await?;
        Some(&self.chunk)
    }
}
