"""Writes WARC and ARC files as other tools write them into the folder that is named, for the tests to read.

WARC files are written by warcio, in both versions of the standard, plain and compressed. ARC files, which no tool writes any more,
are put together here by the description of the format (Burner and Kahle, 1996).
"""

import gzip
import io
import os
import sys

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

FOLDER = sys.argv[1]
DATE = "2026-01-15T09:30:%02dZ"


def http(status, fields):
    return StatusAndHeaders(status, fields, protocol="HTTP/1.1")


def chunked(body):
    return b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)


def write_warc(name, version, is_gzip, **options):
    with open(os.path.join(FOLDER, name), "wb") as out:
        writer = WARCWriter(out, gzip=is_gzip, warc_version=version, **options)

        def put(second, uri, kind, payload=b"", head=None, **more):
            fields = {"WARC-Date": DATE % second, **more.pop("fields", {})}
            record = writer.create_warc_record(
                uri, kind, payload=io.BytesIO(payload), http_headers=head, warc_headers_dict=fields, **more
            )
            writer.write_record(record)

        writer.write_record(writer.create_warcinfo_record(name, {"software": "warcio", "format": "WARC"}))
        page = b"<html>page</html>" * 50
        html = ("Content-Type", "text/html; charset=utf-8")
        put(1, "http://example.org/", "response", page, http("200 OK", [html]), fields={"WARC-IP-Address": "192.0.2.1"})
        put(1, "http://example.org/", "request", b"", StatusAndHeaders("GET / HTTP/1.1", [("Host", "example.org")], is_http_request=True))
        put(2, "https://example.org/chunks", "response", chunked(page), http("200 OK", [html, ("Transfer-Encoding", "chunked")]))
        put(3, "http://example.org/zip", "response", gzip.compress(page, mtime=0), http("200 OK", [html, ("Content-Encoding", "gzip")]))
        put(4, "http://example.org/gone", "response", b"", http("404 Not Found", []))
        put(5, "http://example.org/bad", "response", b"body", http("200", [("no-type", "\u00e9")]))
        put(6, "file:///notes.txt", "resource", b"notes", warc_content_type="text/plain")
        put(7, "dns:example.org", "resource", b"20260115093007\nexample.org. 60 IN A 192.0.2.1\n", warc_content_type="text/dns")
        put(8, "http://example.org/", "metadata", b"via: http://example.org/a\r\n", warc_content_type="application/warc-fields")
        put(9, "http://example.org/", "metadata", b"{}", warc_content_type="application/json")
        digest = "sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        revisit = writer.create_revisit_record(
            "http://example.org/", digest, "http://example.org/", DATE % 1, http("200 OK", [html]), {"WARC-Date": DATE % 10}
        )
        writer.write_record(revisit)
        put(11, "http://example.org/a b|c?d=\u00e9", "response", page, http("200 OK", [html]))


def write_arc(name, is_gzip, fields=5, separator=b"\n"):
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
    records = [
        ("http://example.org/", "text/html", head + b"<html>page</html>\n"),
        ("http://example.org/a b?c=d", "text/html", head + b"<html>\nhttp://not.a.record/\n</html>"),
        ("dns:example.org", "text/dns", b"20080430204825\nexample.org. 589 IN A 192.0.2.1\n"),
        ("http://example.org/none", "no-type", b"HTTP/1.0 404 Not Found\r\n\r\n"),
        ("https://example.org/empty", "text/html", b""),
    ]
    names = "URL IP-address Archive-date Content-type Archive-length"
    if fields == 10:
        names = "URL IP-address Archive-date Content-type Result-code Checksum Location Offset Filename Archive-length"
    about = b"%d 0 junkai\n%s\n" % (1 if fields == 5 else 2, names.encode())
    line = b"filedesc://%s 0.0.0.0 20080430204825 text/plain" % name.encode()
    if fields == 10:
        line += b" 200 - - 0 %s" % name.encode()
    parts = [line + b" %d\n" % len(about) + about]
    for number, (url, kind, block) in enumerate(records):
        line = f"{url} 192.0.2.1 200804302048{number:02} {kind}"
        if fields == 10:
            line += f" 200 fac069150613fe55599cc7fa88aa089d - {number * 100} {name}"
        parts.append(f"{line} {len(block)}\n".encode() + block)
    parts = [part + separator for part in parts]
    with open(os.path.join(FOLDER, name), "wb") as out:
        out.write(b"".join(gzip.compress(part) if is_gzip else part for part in parts))


write_warc("one.warc", "1.0", False)
write_warc("one.warc.gz", "1.0", True)
write_warc("two.warc", "1.1", False)
write_warc("two.warc.gz", "1.1", True)
write_arc("first.arc", False)
write_arc("first.arc.gz", True)
write_arc("bare.arc.gz", True, separator=b"")
write_arc("second.arc", False, fields=10)
write_arc("second.arc.gz", True, fields=10)
write_arc("bare-second.arc", False, fields=10, separator=b"")

# Damaged ones: all records in one gzip member, and a record that ends too early.
with open(os.path.join(FOLDER, "two.warc"), "rb") as whole:
    records = whole.read()
with open(os.path.join(FOLDER, "one-member.warc.gz"), "wb") as out:
    out.write(gzip.compress(records, mtime=0))
with open(os.path.join(FOLDER, "torn.arc"), "wb") as out:
    out.write(b"filedesc://torn.arc 0.0.0.0 20080430204825 text/plain 100\n1 0 junkai\n")
