"""Lists the records of WARC files as warcio reads them: a JSON line each."""
import json
import os
import sys

from warcio.archiveiterator import ArchiveIterator

for path in sys.argv[1:]:
    name = os.path.basename(path).removesuffix(".open")
    with open(path, "rb") as file:
        records = ArchiveIterator(file)
        for record in records:
            header = record.rec_headers.get_header
            print(
                json.dumps(
                    {
                        "file": name,
                        "offset": records.get_record_offset(),
                        "kind": record.rec_type,
                        "uri": header("WARC-Target-URI"),
                        "id": header("WARC-Record-ID"),
                    }
                )
            )
