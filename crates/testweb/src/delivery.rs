//! How an answer goes over the wire, properly or not.
//!
//! [`Manner`] is drawn up by [`crate::host`] from a host's misbehaviours; [`crate::http1`] carries it out here, byte by
//! byte, on the connection itself: no HTTP library stands between, as none would send what a broken server sends.

use std::io::Write;
use std::time::Duration;

use flate2::{Compress, Compression, Crc, FlushCompress};

use crate::access_log::Ending;
use crate::answer::{Answer, reason};
use crate::chance::Chance;
use crate::http1::{Connection, Gone, Transport};
use crate::misbehaviour::Misbehaviour;
use crate::open_exchange::OpenExchange;
use crate::world::Response;

/// In what manner to send an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Manner {
    /// How long to wait before the first byte.
    pub(crate) wait: Duration,
    pub(crate) wire: Wire,
}

/// What happens to the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wire {
    Proper,
    SlowBody(u32),
    Reset(u32),
    Truncated,
    WrongLength(i32),
    EndlessBody,
    EndlessHeaders,
    GzipBomb(u32),
    Garbage,
}

impl Manner {
    pub(crate) const fn proper(latency: Duration) -> Self {
        Self {
            wait: latency,
            wire: Wire::Proper,
        }
    }

    /// Takes in a misbehaviour, if it is one of the wire. Of several, the last one holds; waiting goes with any.
    pub(crate) fn misbehave(&mut self, misbehaviour: &Misbehaviour) {
        match *misbehaviour {
            Misbehaviour::SlowFirstByte(wait) => self.wait += wait,
            Misbehaviour::SlowBody(rate) => self.wire = Wire::SlowBody(rate),
            Misbehaviour::Reset(after) => self.wire = Wire::Reset(after),
            Misbehaviour::Truncated => self.wire = Wire::Truncated,
            Misbehaviour::WrongLength(by) => self.wire = Wire::WrongLength(by),
            Misbehaviour::EndlessBody => self.wire = Wire::EndlessBody,
            Misbehaviour::EndlessHeaders => self.wire = Wire::EndlessHeaders,
            Misbehaviour::GzipBomb(megabytes) => self.wire = Wire::GzipBomb(megabytes),
            Misbehaviour::Garbage => self.wire = Wire::Garbage,
            Misbehaviour::RedirectLoop(_)
            | Misbehaviour::RedirectPrivate
            | Misbehaviour::Refuse(_)
            | Misbehaviour::RobotsStatus(_)
            | Misbehaviour::RobotsHtml
            | Misbehaviour::RobotsHuge(_)
            | Misbehaviour::RobotsBomb(_)
            | Misbehaviour::RetryAfter(_)
            | Misbehaviour::RobotsRedirect(_)
            | Misbehaviour::CalendarTrap
            | Misbehaviour::SessionTrap
            | Misbehaviour::MovingAddress(_)
            | Misbehaviour::DnsSlow(_)
            | Misbehaviour::DnsServfail => {}
        }
    }
}

/// Whether the connection can be used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Afterwards {
    KeepOpen,
    Close,
    /// The connection is dropped without a farewell.
    Abort,
}

/// How the end of a body is marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Framing {
    Length(u64),
    Chunked,
    UntilClose,
}

/// Body bytes in a chunk.
const CHUNK_BYTES: usize = 4096;

/// What is sent at a time where there is no end.
const PIECE_BYTES: usize = 16 << 10;

/// Bytes of garbage.
const GARBAGE_BYTES: usize = 1000;

impl<S: Transport> Connection<S> {
    /// Sends an answer to the request of `open`, and records in `open` how far it came.
    pub(crate) async fn deliver(
        &mut self,
        open: &mut OpenExchange,
        response: &Response,
        wished: Afterwards,
    ) -> Result<Afterwards, Gone> {
        let Response { answer, manner } = response;
        if !manner.wait.is_zero() {
            self.wait(open, manner.wait).await?;
        }
        let length = answer.body.len() as u64;
        let half = answer.body.len() / 2;
        match manner.wire {
            Wire::Proper => return self.send_properly(open, answer, wished).await,
            Wire::SlowBody(rate) => {
                self.send_head(open, answer, Framing::Length(length))
                    .await?;
                self.send_slowly(open, &answer.body, rate).await?;
                open.end(Ending::Complete);
            }
            Wire::Reset(after) => {
                if after > 0 {
                    let end = answer.body.len().min(after as usize);
                    self.send_head(open, answer, Framing::Length(length))
                        .await?;
                    self.send(open, &answer.body[..end]).await?;
                }
                open.end(Ending::BrokenOff);
                self.reset();
                return Ok(Afterwards::Abort);
            }
            Wire::Truncated => {
                self.send_head(open, answer, Framing::Length(length))
                    .await?;
                self.send(open, &answer.body[..half]).await?;
                open.end(Ending::BrokenOff);
            }
            Wire::WrongLength(by) => {
                let told = length.saturating_add_signed(by.into());
                self.send_head(open, answer, Framing::Length(told)).await?;
                self.send(open, &answer.body).await?;
                open.end(Ending::Complete);
            }
            Wire::EndlessBody => {
                self.send_head(open, answer, Framing::UntilClose).await?;
                let piece = vec![b'.'; PIECE_BYTES];
                loop {
                    self.send(open, &piece).await?;
                }
            }
            Wire::EndlessHeaders => {
                self.send(open, b"HTTP/1.1 200 OK\r\n").await?;
                open.status(200);
                let piece = b"x-padding: all work and no play\r\n".repeat(PIECE_BYTES / 33);
                loop {
                    self.send(open, &piece).await?;
                }
            }
            Wire::GzipBomb(megabytes) => {
                let bomb = answer.clone().header("content-encoding", "gzip");
                self.send_head(open, &bomb, Framing::UntilClose).await?;
                self.send_bomb(open, megabytes).await?;
                open.end(Ending::Complete);
            }
            Wire::Garbage => {
                let mut chance = Chance::about(length, 0x6761_7262);
                let bytes: Vec<u8> = (0..GARBAGE_BYTES)
                    .map(|_| garbage_byte(&mut chance))
                    .collect();
                self.send(open, &bytes).await?;
                open.end(Ending::BrokenOff);
            }
        }
        Ok(Afterwards::Close)
    }

    async fn send_properly(
        &mut self,
        open: &mut OpenExchange,
        answer: &Answer,
        afterwards: Afterwards,
    ) -> Result<Afterwards, Gone> {
        let has_body = answer.status != 304 && !open.is_head();
        let framing = if answer.is_chunked && has_body {
            Framing::Chunked
        } else {
            Framing::Length(answer.body.len() as u64)
        };
        let mut bytes = self.head(answer, framing, afterwards);
        let head_length = bytes.len();
        match framing {
            Framing::Chunked => append_chunks(&mut bytes, &answer.body),
            Framing::Length(_) if has_body => bytes.extend_from_slice(&answer.body),
            Framing::Length(_) | Framing::UntilClose => {}
        }
        open.status(answer.status);
        open.head_length(head_length);
        self.send(open, &bytes).await?;
        self.flush().await?;
        open.end(Ending::Complete);
        Ok(afterwards)
    }

    /// Sends the head of an answer after which the connection is closed.
    async fn send_head(
        &mut self,
        open: &mut OpenExchange,
        answer: &Answer,
        framing: Framing,
    ) -> Result<(), Gone> {
        let head = self.head(answer, framing, Afterwards::Close);
        open.status(answer.status);
        open.head_length(head.len());
        self.send(open, &head).await
    }

    fn head(&self, answer: &Answer, framing: Framing, afterwards: Afterwards) -> Vec<u8> {
        let mut head = Vec::with_capacity(answer.body.len() + answer.body.len() / 64 + 512);
        let status = answer.status;
        let mut line = |text: std::fmt::Arguments<'_>| {
            let written = head.write_fmt(text);
            debug_assert!(written.is_ok(), "memory takes all that is written to it");
        };
        line(format_args!("HTTP/1.1 {status} {}\r\n", reason(status)));
        let date = httpdate::HttpDate::from(self.shown().system_time());
        line(format_args!("server: testweb\r\ndate: {date}\r\n"));
        for (name, value) in &answer.headers {
            line(format_args!("{name}: {value}\r\n"));
        }
        match framing {
            Framing::Length(_) if status == 304 => {}
            Framing::Length(length) => line(format_args!("content-length: {length}\r\n")),
            Framing::Chunked => line(format_args!("transfer-encoding: chunked\r\n")),
            Framing::UntilClose => {}
        }
        match afterwards {
            Afterwards::KeepOpen => {}
            Afterwards::Close | Afterwards::Abort => line(format_args!("connection: close\r\n")),
        }
        line(format_args!("\r\n"));
        head
    }

    async fn send_slowly(
        &mut self,
        open: &mut OpenExchange,
        body: &[u8],
        bytes_per_second: u32,
    ) -> Result<(), Gone> {
        let piece_bytes = (bytes_per_second / 10).max(1);
        let pause = Duration::from_secs_f64(f64::from(piece_bytes) / f64::from(bytes_per_second));
        for piece in body.chunks(piece_bytes as usize) {
            self.wait(open, pause).await?;
            self.send(open, piece).await?;
        }
        Ok(())
    }

    /// Sends a well-formed gzip stream of zeros.
    async fn send_bomb(&mut self, open: &mut OpenExchange, megabytes: u32) -> Result<(), Gone> {
        let bomb = Bomb::new();
        self.send(open, &GZIP_HEAD).await?;
        for _ in 0..megabytes {
            self.send(open, &bomb.block).await?;
        }
        self.send(open, &Bomb::end(megabytes)).await
    }
}

fn append_chunks(out: &mut Vec<u8>, body: &[u8]) {
    for chunk in body.chunks(CHUNK_BYTES) {
        let written = write!(out, "{:x}\r\n", chunk.len());
        debug_assert!(written.is_ok(), "memory takes all that is written to it");
        out.extend_from_slice(chunk);
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(b"0\r\n\r\n");
}

/// A byte with the high bit set, so that no garbage begins like HTTP.
fn garbage_byte(chance: &mut Chance) -> u8 {
    0x80 | chance.number().to_le_bytes()[0]
}

/// A gzip header without name or time (RFC 1952, section 2.3).
const GZIP_HEAD: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];

/// A megabyte of zeros, compressed so that it can be repeated.
struct Bomb {
    block: Vec<u8>,
}

const MEGABYTE: usize = 1 << 20;

impl Bomb {
    fn new() -> Self {
        let mut compress = Compress::new(Compression::best(), false);
        let zeros = vec![0; MEGABYTE];
        let mut block = Vec::with_capacity(MEGABYTE / 64);
        // A full flush ends at a byte boundary and forgets what went before, so the block can be followed by itself.
        let status = compress.compress_vec(&zeros, &mut block, FlushCompress::Full);
        debug_assert!(status.is_ok(), "zeros can be compressed");
        Self { block }
    }

    /// An empty last block, then checksum and length of the whole.
    fn end(megabytes: u32) -> Vec<u8> {
        let mut unit = Crc::new();
        unit.update(&vec![0; MEGABYTE]);
        let mut whole = Crc::new();
        for _ in 0..megabytes {
            whole.combine(&unit);
        }
        let mut end = vec![3, 0];
        end.extend_from_slice(&whole.sum().to_le_bytes());
        end.extend_from_slice(&whole.amount().to_le_bytes());
        end
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn a_bomb_is_a_whole_gzip_stream() {
        let bomb = Bomb::new();
        let mut stream = GZIP_HEAD.to_vec();
        (0..5).for_each(|_| stream.extend_from_slice(&bomb.block));
        stream.extend_from_slice(&Bomb::end(5));
        assert!(stream.len() < 6 << 10, "{} bytes", stream.len());
        let mut text = Vec::new();
        flate2::read::GzDecoder::new(&stream[..])
            .read_to_end(&mut text)
            .unwrap();
        assert_eq!(text.len(), 5 << 20);
    }

    #[test]
    fn chunks_carry_the_body() {
        let mut out = Vec::new();
        append_chunks(&mut out, &[b'a'; CHUNK_BYTES + 1]);
        let mut expected = b"1000\r\n".to_vec();
        expected.extend([b'a'; CHUNK_BYTES]);
        expected.extend(b"\r\n1\r\na\r\n0\r\n\r\n");
        assert_eq!(out, expected);
    }
}
