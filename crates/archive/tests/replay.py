"""Replays the captures of an archive in pywb; says what differs, and fails then."""
import sys, os
from pywb.apps.frontendapp import FrontEndApp
from werkzeug.test import Client

root = sys.argv[1]
os.chdir(root)
app = FrontEndApp(
    config_file=None,
    custom_config={
        "collections": {
            "a": {"index_paths": root + "/indexes/", "archive_paths": root + "/archive/"}
        }
    },
)
client = Client(app)


def body(timestamp, url):
    response = client.get("/a/%sid_/%s" % (timestamp, url))
    return response.status_code, response.get_data()


page = lambda n: (
    b"<title>Page %d</title>" % n + b"<p>paragraph %d</p>" % n * 40
)
chunked = b"<p>in chunks</p>\r\n" * 50
failures = 0
for timestamp, url, expected in [
    ("20260115093012", "https://example.org/page/0", page(0)),
    ("20260115093019", "https://example.org/page/7", page(7)),
    ("20270115093019", "https://example.org/page/7", page(7)),
    ("20270115093019", "https://example.org/page/8", page(8)),
    ("20260115093052", "https://example.org/chunked", chunked),
    ("20270115093052", "https://example.org/chunked", chunked),
]:
    status, found = body(timestamp, url)
    if (status, found) != (200, expected):
        failures += 1
        print(timestamp, url, status, found[:300])
sys.exit(failures)
