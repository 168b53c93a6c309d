//! The site that is looked at, and the server that sends it.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

/// A server of the site, and a second one, to another host, of the same files.
pub(super) struct Site {
    port: u16,
    folder: PathBuf,
    sent: Arc<Mutex<BTreeSet<String>>>,
    is_over: Arc<AtomicBool>,
    servers: Vec<JoinHandle<()>>,
}

/// The hosts.
const HOSTS: [&str; 2] = ["127.0.0.1", "127.0.0.2"];

impl Site {
    /// Makes the site in a folder, and serves it.
    pub(super) fn start(folder: &Path) -> Site {
        let first = TcpListener::bind((HOSTS[0], 0)).unwrap();
        let port = first.local_addr().unwrap().port();
        let second = TcpListener::bind((HOSTS[1], port)).unwrap();
        write_site(folder, port);
        let (sent, is_over) = (Arc::default(), Arc::default());
        let mut site = Site {
            port,
            folder: folder.to_owned(),
            sent,
            is_over,
            servers: Vec::new(),
        };
        for (host, listener) in HOSTS.into_iter().zip([first, second]) {
            let origin = format!("http://{host}:{port}");
            let folder = site.folder.clone();
            let (sent, is_over) = (Arc::clone(&site.sent), Arc::clone(&site.is_over));
            site.servers.push(std::thread::spawn(move || {
                for stream in listener.incoming() {
                    if is_over.load(Ordering::Relaxed) {
                        return;
                    }
                    // A client that goes away does no harm.
                    if let Ok(Some(path)) = stream.and_then(|stream| answer(&stream, &folder)) {
                        sent.lock().unwrap().insert(format!("{origin}{path}"));
                    }
                }
            }));
        }
        site
    }

    /// The URL of a path.
    pub(super) fn url(&self, path: &str) -> String {
        format!("http://{}:{}{path}", HOSTS[0], self.port)
    }

    /// The URLs of all parts of the page of parts.
    pub(super) fn parts(&self) -> BTreeSet<String> {
        let names = fs::read_dir(self.folder.join("parts")).unwrap();
        let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names
            .map(|name| match &*name {
                "index.html" => self.url("/parts/"),
                "elsewhere.svg" => format!("http://{}:{}/parts/{name}", HOSTS[1], self.port),
                _ => self.url(&format!("/parts/{name}")),
            })
            .collect()
    }

    /// Forgets what was sent.
    pub(super) fn forget(&self) {
        self.sent.lock().unwrap().clear();
    }

    /// The URLs whose files were sent.
    pub(super) fn sent(&self) -> BTreeSet<String> {
        self.sent.lock().unwrap().clone()
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        for (host, server) in HOSTS.iter().zip(self.servers.drain(..)) {
            // So that it looks up.
            drop(TcpStream::connect((*host, self.port)));
            let _ended = server.join();
        }
    }
}

/// Answers one request; the path whose file was sent.
fn answer(stream: &TcpStream, folder: &Path) -> std::io::Result<Option<String>> {
    let mut lines = BufReader::new(stream).lines();
    let request = lines.next().transpose()?.unwrap_or_default();
    while lines
        .next()
        .transpose()?
        .is_some_and(|line| !line.is_empty())
    {}
    let path = request.split(' ').nth(1).unwrap_or("/").to_owned();
    let file = folder.join(path.split('?').next().unwrap().trim_start_matches('/'));
    let file = if file.is_dir() {
        file.join("index.html")
    } else {
        file
    };
    let mut stream = stream;
    let sheet = endless_sheet(&path).map(String::into_bytes);
    let Some(body) = sheet.or_else(|| fs::read(&file).ok()) else {
        stream.write_all(
            b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
        )?;
        return Ok(None);
    };
    let content_type = match file.extension().and_then(|ending| ending.to_str()) {
        Some("html") => "text/html",
        Some("css") => "text/css",
        Some("js") => "text/javascript",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("gif") => "image/gif",
        _ => "application/octet-stream",
    };
    let link = if path == "/parts/" {
        "Link: <preloaded.css>; rel=preload; as=style\r\n"
    } else {
        ""
    };
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\n{link}Content-Length: {length}\r\nConnection: close\r\n\r\n"
    )?;
    stream.write_all(&body)?;
    Ok(Some(path))
}

/// A style sheet that imports the next one.
fn endless_sheet(path: &str) -> Option<String> {
    let number = path.strip_prefix("/endless/")?.strip_suffix(".css")?;
    let number: u32 = number.parse().ok()?;
    Some(format!("@import '{}.css';", number + 1))
}

/// The page that names its parts in every way; each of them is a file of its own.
const PARTS: &str = r#"<!DOCTYPE html>
<title>Parts</title>
<link rel="stylesheet" href="main.css">
<style>@import "in-page.css"; #style { background: url('style.svg') }</style>
<p>Each of these is another file.
<div id="import"></div><div id="imported"></div><div id="style"></div><div id="preload"></div>
<div style="background: url(&quot;attribute.svg&quot;)"></div>
<img src="data:," data-src="lazy.svg"><img src="data:," data-original="original.svg">
<img srcset="density1.svg 1x, density2.svg 2x"><img src="data:," data-srcset="lazy-set.svg 1x">
<svg width="80" height="80"><image href="image.svg" width="80" height="80"/></svg>
<svg width="80" height="80"><use href="drawing.svg#square"/></svg>
<iframe srcdoc="<style>body { background: url('/parts/in-document.svg') }</style>"></iframe>
<iframe src="frame.html"></iframe>
<table background="table.svg"><td width="80" height="80"></table>
<input type="image" src="button.svg"><video poster="poster.svg" width="80" height="80"></video>
<object data="object.svg"></object><embed src="embed.svg">
<img src="http://127.0.0.2:PORT/parts/elsewhere.svg">
<script>
for (const it of document.querySelectorAll("[data-src], [data-original]")) it.src = it.dataset.src || it.dataset.original;
for (const it of document.querySelectorAll("[data-srcset]")) it.srcset = it.dataset.srcset;
const sheet = document.createElement("link");
sheet.rel = "stylesheet";
sheet.href = "preload" + "ed.css";
document.head.append(sheet);
</script>
"#;

/// The style sheets.
const STYLE_SHEETS: [(&str, &str); 4] = [
    (
        "main.css",
        "@import url(imported.css) screen; div, img, iframe, object, embed { width: 80px; height: 80px }",
    ),
    (
        "imported.css",
        "/* url(no.svg) */ #imported { background: URL( 'im\\70 orted.svg' ) } body { background: url(body.svg) } \
         @font-face { font-family: none; src: url(font.woff2) format(\"woff2\") }",
    ),
    (
        "in-page.css",
        "#import { background: image-set('set.svg' 1x) }",
    ),
    (
        "preloaded.css",
        "#preload { background: url(\"preload.svg\") }",
    ),
];

/// The drawings: squares of one colour each.
const DRAWINGS: [&str; 22] = [
    "attribute",
    "body",
    "button",
    "density1",
    "density2",
    "drawing",
    "elsewhere",
    "embed",
    "frame",
    "image",
    "imported",
    "in-document",
    "lazy",
    "lazy-set",
    "object",
    "original",
    "poster",
    "preload",
    "set",
    "style",
    "table",
    "icon",
];

fn write_site(folder: &Path, port: u16) {
    let parts = folder.join("parts");
    fs::create_dir_all(&parts).unwrap();
    let docs = std::env::var_os("JUNKAI_DOCS").expect(
        "JUNKAI_DOCS must name the unpacked Debian package apache2-doc: run `cargo xtask test`, which sets it up",
    );
    let manual = Path::new(&docs).join("usr/share/doc/apache2-doc/manual");
    std::os::unix::fs::symlink(manual.canonicalize().unwrap(), folder.join("manual")).unwrap();
    let home = "<a href=manual/index.html>manual</a> <a href=parts/>parts</a>";
    fs::write(folder.join("index.html"), home).unwrap();
    let trap = format!(
        "<link rel=stylesheet href=/endless/0.css><iframe src=http://{}:{port}/framed.html></iframe>",
        HOSTS[1]
    );
    fs::write(folder.join("trap.html"), trap).unwrap();
    let framed = "<a href=/parts/>no page of the crawl</a><img src=/parts/image.svg>";
    fs::write(folder.join("framed.html"), framed).unwrap();
    let page = PARTS.replace("PORT", &port.to_string());
    fs::write(parts.join("index.html"), page).unwrap();
    let frame = "<link rel=icon href=icon.svg><img src=frame.svg>";
    fs::write(parts.join("frame.html"), frame).unwrap();
    fs::write(parts.join("font.woff2"), "no glyphs").unwrap();
    for (name, css) in STYLE_SHEETS {
        fs::write(parts.join(name), css).unwrap();
    }
    for (number, name) in DRAWINGS.into_iter().enumerate() {
        let hue = number * 360 / DRAWINGS.len();
        let svg = format!(
            "<svg xmlns='http://www.w3.org/2000/svg' width='80' height='80'><rect id='square' width='80' height='80' \
             fill='hsl({hue} 80% 50%)'/></svg>"
        );
        fs::write(parts.join(format!("{name}.svg")), svg).unwrap();
    }
}
