"""Write the golden JSON that is missing. Never overwrites what is there."""

import json
from pathlib import Path

from lakestream.contract.codecs.codec import Found
from lakestream.contract.codecs.json.codec import CODEC_VERSION, bind
from lakestream.contract.columns.rest import with_rest
from tests.unit.codecs.json.samples import WRITER, binary, layout_of

HERE = Path(__file__).parent
KINDS: dict[str, Found] = {
    "n": "long",
    "price": "double",
    "ok": "boolean",
    "name": "string",
    "more": "json",
    "größe": "string",
    "at": {"x": "double", "y": "double", "place": {"city": "string", "zip": "long"}},
    "from": {"city": "string", "x": "long"},
    "tags": ["string"],
    "counts": ["long"],
    "parts": ["double"],
    "flags": ["boolean"],
    "items": [{"sku": "string", "price": "double", "at": {"x": "long"}, "parts": [{"n": "long"}], "tags": ["string"]}],
}
NESTED = [
    '{"at":{"x":1.5,"y":-2.0,"place":{"city":"Köln","zip":50667}},"from":{"city":"x","x":1},"n":1}',
    '{"at": {"y": 2.25, "x": 1e-07, "place": null}, "from": null}',
    '{"at": {"place": {}}, "from": {}}',
    '{"at": {}, "tags": [], "counts": [1, -2, null], "parts": [1.5, 2.0], "flags": [true, false, null]}',
    '{"tags":["a","\\u00e9 \\"q\\"",null,""],"counts":[9223372036854775807],"parts":[12.50,0.25],"flags":[]}',
    '{ "at" : { "place" : { "zip" : 7 } , "x" : 3 } , "tags" : null }\n',
    '{"n":1,"new":[1, {"a": null}], "other": "x","name":"y"}',
    '{"new":5}',
]
"""What version 2 of the rules has beyond version 1."""
OBJECTS = [
    '{"items":[{"sku":"a","price":1.5},{"sku":"b","price":2.25}],"n":1}',
    '{"items": [{"sku": "\\u00e9", "at": {"x": 1}}, null, {"sku": null, "at": {"x": null}}], "name": "x"}',
    '{"items":[]}',
    '{"items":null}',
    '{"items":[{"parts":[{"n":1},{"n":2}],"tags":["x","y"]},{"parts":[],"tags":[]},{"parts":null,"tags":null}]}',
    '{"items":[{}, {}]}',
]
"""What version 3 has beyond version 2."""
ROWS = [
    '{"n":1,"price":2.5,"ok":true,"name":"x","more":[1, 2],"größe":"L"}',
    '{"n": -9223372036854775808, "price": -0.0, "ok": false, "name": null, "more": {"a": [null]}}',
    '{ "name" : "tab\\t quote\\" slash/ back\\\\ bell\\u0007 ü €" }\n',
    '{"name": "\\u00fc \\u20ac \\ud83d\\ude00 \\u007f", "gr\\u00f6\\u00dfe": "\\b\\f\\n\\r"}',
    '{"price":12}',
    '{"price":12.50}',
    '{"price":0.1}',
    '{"price":1e-07}',
    '{"price":1e-7}',
    '{"price":1.7976931348623157e+308}',
    '{"price":123456789012345680000}',
    '{"price":0.30000000000000004}',
    '{"price":100.0}',
    '{"name":17,"more":"text"}',
    "{}",
    '\t{\r\n  "ok": null\r\n}',
]


def golden() -> str:
    layout, rows = with_rest(layout_of(KINDS)), [*ROWS, *NESTED, *OBJECTS]
    codec = bind(WRITER, layout)
    decoded = codec.decode(binary([row.encode() for row in rows]))
    assert decoded.exact.all()
    assert decoded.shapes is not None
    content = {
        "layout": json.loads(layout.to_text()),
        "shapes": codec.shapes,
        "rows": [
            {"shape": shape, "columns": columns, "bytes": row}
            for shape, columns, row in zip(decoded.shapes.tolist(), decoded.columns.to_pylist(), rows, strict=True)
        ],
    }
    return json.dumps(content, indent=1) + "\n"


def main() -> None:
    path = HERE / f"v{CODEC_VERSION}.json"
    if not path.exists():
        path.write_text(golden())
        print(f"wrote {path.name}")


if __name__ == "__main__":
    main()
