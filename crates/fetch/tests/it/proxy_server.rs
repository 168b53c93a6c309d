//! A proxy that speaks CONNECT and SOCKS5, and notes what it was asked for. The end-to-end tests use it, too.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// How the proxy behaves.
#[derive(Clone, Debug, Default)]
pub(crate) struct Manners {
    /// The login that it wants, `user:password`.
    pub(crate) login: Option<&'static str>,
    /// What it answers instead of connecting: to CONNECT a status line with fields, to SOCKS5 a code.
    pub(crate) refuses: Option<(&'static str, u8)>,
}

/// A running proxy.
#[derive(Clone)]
pub(crate) struct ProxyServer {
    pub(crate) address: SocketAddr,
    manners: Arc<Mutex<Manners>>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl ProxyServer {
    pub(crate) fn start(manners: Manners) -> ProxyServer {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let proxy = ProxyServer {
            address: listener.local_addr().unwrap(),
            manners: Arc::new(Mutex::new(manners)),
            asked: Arc::default(),
        };
        let this = proxy.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let this = this.clone();
                let manners = this.manners.lock().unwrap().clone();
                // A client that goes away is no news.
                std::thread::spawn(move || drop(this.serve(stream, &manners)));
            }
        });
        proxy
    }

    /// Behaves otherwise towards those who come from now on.
    pub(crate) fn change(&self, manners: Manners) {
        *self.manners.lock().unwrap() = manners;
    }

    /// The targets that it was asked for, as they were named.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }

    fn serve(&self, mut client: TcpStream, manners: &Manners) -> io::Result<()> {
        let mut first = [0];
        client.peek(&mut first)?;
        let target = match first[0] {
            5 => self.socks5(&mut client, manners)?,
            _ => self.connect(&mut client, manners)?,
        };
        let Some(target) = target else {
            return client.shutdown(Shutdown::Both);
        };
        let Ok(server) = TcpStream::connect(&target) else {
            return match first[0] {
                5 => client.write_all(&[5, 5, 0, 1, 0, 0, 0, 0, 0, 0]),
                _ => client.write_all(b"HTTP/1.1 502 Bad Gateway\r\n\r\n"),
            };
        };
        match first[0] {
            // From a name, which is as long as it says.
            5 => client.write_all(&[5, 0, 0, 3, 1, b'x', 0, 80])?,
            _ => client.write_all(b"HTTP/1.1 200 Connection established\r\nVia: test\r\n\r\n")?,
        }
        let (mut up, mut down) = (server.try_clone()?, client.try_clone()?);
        let upward = std::thread::spawn(move || {
            let copied = io::copy(&mut client, &mut up);
            drop(up.shutdown(Shutdown::Write));
            copied
        });
        let mut server = server;
        drop(io::copy(&mut server, &mut down));
        drop(down.shutdown(Shutdown::Both));
        drop(upward.join());
        Ok(())
    }

    fn note(&self, target: &str) {
        self.asked.lock().unwrap().push(target.to_owned());
    }

    fn connect(&self, client: &mut TcpStream, manners: &Manners) -> io::Result<Option<String>> {
        let mut request = Vec::new();
        while !request.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            client.read_exact(&mut byte)?;
            request.extend(byte);
        }
        let request = String::from_utf8(request).unwrap();
        let target = request.split(' ').nth(1).unwrap().to_owned();
        self.note(&target);
        if let Some(login) = manners.login {
            let wanted = format!(
                "Proxy-Authorization: Basic {}\r\n",
                data_encoding::BASE64.encode(login.as_bytes())
            );
            if !request.contains(&wanted) {
                client.write_all(b"HTTP/1.1 407 Who are you\r\nContent-Length: 2\r\n\r\nno")?;
                return Ok(None);
            }
        }
        if let Some((answer, _)) = manners.refuses {
            client.write_all(answer.as_bytes())?;
            return Ok(None);
        }
        Ok(Some(target))
    }

    fn socks5(&self, client: &mut TcpStream, manners: &Manners) -> io::Result<Option<String>> {
        let mut greeting = [0; 2];
        client.read_exact(&mut greeting)?;
        let mut methods = vec![0; usize::from(greeting[1])];
        client.read_exact(&mut methods)?;
        match manners.login {
            None => client.write_all(&[5, 0])?,
            Some(_) if !methods.contains(&2) => {
                client.write_all(&[5, 0xff])?;
                return Ok(None);
            }
            Some(login) => {
                client.write_all(&[5, 2])?;
                let mut version = [0];
                client.read_exact(&mut version)?;
                let (user, password) = (read_short(client)?, read_short(client)?);
                let is_right = login == format!("{user}:{password}");
                client.write_all(&[1, u8::from(!is_right)])?;
                if !is_right {
                    return Ok(None);
                }
            }
        }
        let mut request = [0; 4];
        client.read_exact(&mut request)?;
        let host = match request[3] {
            1 => {
                let mut address = [0; 4];
                client.read_exact(&mut address)?;
                Ipv4Addr::from(address).to_string()
            }
            4 => {
                let mut address = [0; 16];
                client.read_exact(&mut address)?;
                format!("[{}]", Ipv6Addr::from(address))
            }
            _ => read_short(client)?,
        };
        let mut port = [0; 2];
        client.read_exact(&mut port)?;
        let target = format!("{host}:{}", u16::from_be_bytes(port));
        self.note(&target);
        if let Some((_, code)) = manners.refuses {
            client.write_all(&[5, code, 0, 1, 0, 0, 0, 0, 0, 0])?;
            return Ok(None);
        }
        Ok(Some(target))
    }
}

/// A text with its length before it.
fn read_short(client: &mut TcpStream) -> io::Result<String> {
    let mut length = [0];
    client.read_exact(&mut length)?;
    let mut text = vec![0; usize::from(length[0])];
    client.read_exact(&mut text)?;
    Ok(String::from_utf8(text).unwrap())
}
