"""The ground truth of a crawl: every URL of a site that links lead to from its home page.

Reads the files themselves, with the HTML parser of Python's library, and knows nothing of the crawler.
Usage: reachable.py FOLDER ORIGIN
"""
import os
import re
import sys
from html.parser import HTMLParser
from urllib.parse import quote, unquote, urldefrag, urljoin, urlsplit

PAGES = {"a": "href", "area": "href", "frame": "src", "iframe": "src"}
REQUISITES = {"img": "src", "script": "src"}


class Links(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.pages, self.requisites = [], []

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if attributes.get(PAGES.get(tag)):
            self.pages.append(attributes[PAGES[tag]])
        elif attributes.get(REQUISITES.get(tag)):
            self.requisites.append(attributes[REQUISITES[tag]])
        elif tag == "link" and attributes.get("href"):
            self.requisites.append(attributes["href"])
        elif tag == "meta" and (attributes.get("http-equiv") or "").lower() == "refresh":
            self.pages.append(re.split("url=", attributes["content"], flags=re.I)[1])


def links(body, url):
    found = Links()
    found.feed(body.decode("utf-8", "replace"))
    for references, is_page in (found.pages, True), (found.requisites, False):
        for reference in references:
            # The URL standard drops line breaks and tabs, and escapes what is left of white space.
            reference = re.sub("[\r\n\t]", "", reference.strip())
            target = urldefrag(urljoin(url, reference)).url
            if target.startswith(("http://", "https://")):
                yield quote(target, safe="/:?#[]@!$&'()*+,;=%-._~"), is_page


def file_of(folder, url):
    """The file that a plain file server answers with, and the URL that it redirects to instead."""
    path = unquote(urlsplit(url).path)
    file = folder + path
    if os.path.isdir(file):
        return (file + "/index.html", None) if path.endswith("/") else (None, url + "/")
    return file, None


def main(folder, origin):
    home = origin + "/"
    known, waiting = {home}, [(home, True)]
    while waiting:
        url, is_page = waiting.pop()
        print(url)
        file, redirect = file_of(folder, url)
        found = [(redirect, is_page)] if redirect else []
        if is_page and file and file.endswith(".html") and os.path.isfile(file):
            with open(file, "rb") as body:
                found = links(body.read(), url)
        for target, is_page in found:
            if target.startswith(home) and target not in known:
                known.add(target)
                waiting.append((target, is_page))


main(*sys.argv[1:])
