"""Read a form that a page of the console sent."""

from urllib.parse import parse_qsl

from starlette.requests import Request

from lakestream.model.errors import InvalidRequest

FORM_BYTES_MAX = 256 * 1024
FIELDS_MAX = 200


class SentForm:
    """The fields of a form; of a field that was sent twice, the last."""

    def __init__(self, fields: dict[str, str]) -> None:
        self.fields = fields

    @classmethod
    async def of(cls, request: Request) -> "SentForm":
        """Raises InvalidRequest."""
        body = await request.body()
        if len(body) > FORM_BYTES_MAX:
            raise InvalidRequest(f"the form has more than {FORM_BYTES_MAX} bytes")
        try:
            pairs = parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=FIELDS_MAX)
        except ValueError:
            raise InvalidRequest("the form cannot be read: load the page again and send it from there") from None
        return cls(dict(pairs))

    def text(self, name: str) -> str:
        return self.fields.get(name, "").strip()

    def number(self, name: str) -> int | None:
        """None if it was left empty. Raises InvalidRequest."""
        text = self.text(name)
        if not text:
            return None
        if not text.isdecimal() or len(text) > 18:
            raise InvalidRequest(f"'{name}' is a whole number, not '{text[:40]}'")
        return int(text)

    @property
    def is_confirmed(self) -> bool:
        """Whether the person has seen what will happen, and agreed."""
        return self.text("confirmed") == "yes"

    def again(self) -> dict[str, str]:
        """The fields for the page that asks for agreement."""
        return {name: value for name, value in self.fields.items() if name != "confirmed"}
