"""Write the golden JSON that is missing. Never overwrites what is there."""

import json
from pathlib import Path

from tests.unit.codecs.json.samples import binary, codec_of, layout_of

HERE = Path(__file__).parent
KINDS = {"n": "long", "price": "double", "ok": "boolean", "name": "string", "more": "json", "größe": "string"}
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
    codec = codec_of(KINDS)
    decoded = codec.decode(binary([row.encode() for row in ROWS]))
    assert decoded.exact.all()
    assert decoded.shapes is not None
    content = {
        "layout": json.loads(layout_of(KINDS).to_text()),
        "shapes": codec.shapes,
        "rows": [
            {"shape": shape, "columns": columns, "bytes": row}
            for shape, columns, row in zip(decoded.shapes.tolist(), decoded.columns.to_pylist(), ROWS, strict=True)
        ],
    }
    return json.dumps(content, indent=1) + "\n"


def main() -> None:
    path = HERE / "v1.json"
    if not path.exists():
        path.write_text(golden())
        print(f"wrote {path.name}")


if __name__ == "__main__":
    main()
