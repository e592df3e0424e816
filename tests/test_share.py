"""Links and state files: what goes in comes out, for ever; what is broken says so in one line; no secret gets in."""

import base64
import dataclasses
import datetime
import hashlib
import json
import random
import time
import tracemalloc
import zlib
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from formats import share
from formats.conversation import MAX_DEPTH
from formats.errors import FormatsError
from formats.share import SharedModel, SharedOutput, State, decode, decode_file, encode, encode_file
from formats.types import Column, Comparison, Conversation, Problem, Source

GOLDEN = sorted((Path(__file__).parent / "golden" / "links").glob("*.json"))
BASE = "http://127.0.0.1:7860/"
TODAY = datetime.date(2026, 11, 30)
USER = {"role": "user", "content": "Hi"}
SHA = hashlib.sha256(b"template").hexdigest()
REVISION = "0123456789abcdef0123456789abcdef01234567"
TOKEN = "hf_" + "abcDEF" * 6


def state(**changes) -> State:
    base = State(Conversation((USER,)), (SharedModel("Qwen/Qwen3-8B", "Qwen/Qwen3-8B", REVISION, SHA, SHA),), TODAY)
    return dataclasses.replace(base, **changes)


def body(**changes):
    """The JSON of a good state, with parts of it replaced."""
    return {**share.to_json(state()), **changes}


def packed(value, finish: int = zlib.Z_FINISH) -> str:
    """A link's text made of anything at all: JSON values, text or bytes."""
    data = value if isinstance(value, bytes) else (value if isinstance(value, str) else json.dumps(value)).encode()
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    raw = packer.compress(data) + packer.flush(finish)
    return f"1.{base64.urlsafe_b64encode(raw).decode().rstrip('=')}.{zlib.crc32(data):08x}"


def problem(read, value) -> str:
    with pytest.raises(FormatsError) as caught:
        read(value)
    message = caught.value.message
    assert "\n" not in message
    assert len(message) < 400
    assert caught.value.kind == ("bad_file" if read is decode_file else "bad_link")
    return message


# What goes in comes out.

CHARACTERS = st.characters(exclude_categories=["Cs"])
TEXT = st.text(CHARACTERS, max_size=20)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.integers(10**30, 10**40) | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
).filter(lambda value: not isinstance(value, float) or abs(value) != float("inf"))
FINITE = VALUES.filter(lambda value: "Infinity" not in json.dumps(value))
OBJECTS = st.dictionaries(TEXT, FINITE, max_size=3)
PLAIN_KEYS = st.from_regex(r"(?:enable|max|think)_[a-z]{1,8}x", fullmatch=True)
MESSAGES = st.builds(
    lambda role, content, more: {**more, "role": role, "content": content, "tool_calls": None},
    st.sampled_from(["system", "user", "assistant"]),
    TEXT | st.none() | st.lists(OBJECTS, max_size=2),
    OBJECTS,
)
CONVERSATIONS = st.builds(
    Conversation,
    messages=st.lists(MESSAGES, min_size=1, max_size=4).map(tuple),
    tools=st.none() | st.lists(OBJECTS, max_size=2).map(tuple),
    documents=st.none() | st.lists(OBJECTS, max_size=2).map(tuple),
    add_generation_prompt=st.just(False),
    continue_final_message=st.booleans() | st.just("content"),
    chat_template=st.none() | TEXT,
    template_kwargs=st.dictionaries(PLAIN_KEYS, FINITE.filter(lambda v: "oken" not in json.dumps(v)), max_size=2),
)
NAMES = st.text(CHARACTERS.filter(lambda c: c >= " " and c != "\x7f"), min_size=1, max_size=30)
DIGESTS = st.none() | st.binary(min_size=32, max_size=32).map(bytes.hex)
MODELS = st.builds(SharedModel, NAMES, st.none() | NAMES, st.none() | st.just(REVISION), DIGESTS, DIGESTS)
STATES = st.builds(
    State,
    conversation=CONVERSATIONS,
    models=st.lists(MODELS, max_size=3).map(tuple),
    date=st.dates(),
    output=st.none() | st.builds(SharedOutput, TEXT, st.none() | st.just("hermes"), st.none() | NAMES),
    view=st.sampled_from(["", "compare", "outputs"]),
)


def exact(value: State) -> str:
    """Equality to the last: the order of keys, 1 and 1.0, -0.0 and 0.0."""
    return json.dumps(share.to_json(value), ensure_ascii=False)


@settings(max_examples=150)
@given(STATES)
def test_a_link_and_a_file_carry_everything(given_state):
    try:
        text = encode(given_state)
    except FormatsError as error:  # a random name such as "//x@"
        assert error.kind == "secret"
        return
    assert exact(decode(text)) == exact(given_state)
    assert decode(text) == given_state
    assert exact(decode_file(encode_file(given_state))) == exact(given_state)
    assert encode(decode(text)) == text


def test_numbers_and_the_order_of_keys_are_exact():
    arguments = {
        "z": 2**200,
        "a": 0.1 + 0.2,
        "m": -0.0,
        "e": 1e-320,
        "n": 10**17 + 1,
        "one": 1.0,
        "k": {"b": 1, "a": 2},
    }
    call = {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": arguments}}]}
    back = decode(encode(state(conversation=Conversation((USER, call)))))
    assert json.dumps(back.conversation.messages[1]) == json.dumps(call)


def test_no_tools_and_an_empty_list_of_tools_stay_different():
    for tools in (None, ()):
        assert decode(encode(state(conversation=Conversation((USER,), tools)))).conversation.tools == tools


def test_the_same_state_makes_the_same_link_whatever_it_is_made_of():
    made_of_tuples = state(conversation=Conversation(({"role": "user", "content": ({"type": "text", "text": "Hi"},)},)))
    made_of_lists = state(conversation=Conversation(({"role": "user", "content": [{"type": "text", "text": "Hi"}]},)))
    assert encode(made_of_tuples) == encode(made_of_lists) == encode(decode(encode(made_of_lists)))


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_links_of_every_version_open_for_ever(path):
    golden = json.loads(path.read_text(encoding="utf-8"))
    assert json.dumps(share.to_json(decode(golden["link"]))) == json.dumps(golden["state"])


def test_there_are_golden_links():
    assert len(GOLDEN) >= 6


# How links arrive.

TEXT_OF_LINK = encode(state(output=SharedOutput("<tool_call>\n{}\n</tool_call>", "hermes"), view="outputs"))
WRAPPED = "\r\n".join(TEXT_OF_LINK[i : i + 60] for i in range(0, len(TEXT_OF_LINK), 60))


@pytest.mark.parametrize(
    "text",
    [
        TEXT_OF_LINK,
        f"s={TEXT_OF_LINK}",
        f"#s={TEXT_OF_LINK}",
        f"{BASE}#s={TEXT_OF_LINK}",
        f"https://host.example/space/?embed&__theme=dark#view=embed&s={TEXT_OF_LINK}&x=1",
        f"  <{BASE}#s={TEXT_OF_LINK}>.\n",
        f"({BASE}#s={TEXT_OF_LINK})",
        f"{BASE}#s={WRAPPED}",
        f"> {BASE}#s=" + WRAPPED.replace("\r\n", "\r\n> "),
        f"{BASE}#s=\u200b{TEXT_OF_LINK}\u200e",
        quote(f"{BASE}#s={TEXT_OF_LINK}", safe=""),
        f"https://redirect.example/?to={quote(quote(f'{BASE}#s={TEXT_OF_LINK}', safe=''), safe='')}",
        f"{BASE}#s={TEXT_OF_LINK.replace('-', '%2D').replace('_', '%5f').replace('.', '%2e')}",
        f"“{BASE}#s={TEXT_OF_LINK}”".strip("“”"),
    ],
)
def test_a_link_opens_as_it_arrives(text):
    assert encode(decode(text)) == TEXT_OF_LINK


def test_a_link_carries_no_query_of_the_page_it_was_made_on():
    made = share.link(state(), f"https://user-space.hf.space/sub/?__sign={TOKEN}&__theme=dark#old")
    assert made == f"https://user-space.hf.space/sub/#s={encode(state())}"
    assert share.link(state(), "http://localhost:7860") == f"http://localhost:7860/#s={encode(state())}"


@pytest.mark.parametrize(
    "base", ["", "127.0.0.1:7860", "javascript:alert(1)//x/", "https://a:b@host/", "http://[", "http:///x"]
)
def test_a_link_needs_the_address_of_a_page(base):
    with pytest.raises(FormatsError, match="no address of a page") as caught:
        share.link(state(), base)
    assert caught.value.kind == "bad_base"


# What is broken, cut off or hostile.

DEEP = "[" * 200 + "]" * 200
MESSAGE = "conversation.messages[0]"
HOSTILE = {
    "nothing": ("", "holds no state"),
    "white space": (" \n\t", "holds no state"),
    "an address without a state": (f"{BASE}?x=1#top", "holds no state"),
    "prose": ("have a look at this!", "holds no state"),
    "JSON in place of a link": (json.dumps(body()), "holds no state"),
    "script": ("<script>alert(1)</script>", "holds no state"),
    "a percent sign too many": ("%%%zz%", "holds no state"),
    "version only": ("1.", "lost or changed"),
    "cut off": (TEXT_OF_LINK[:-30], "lost or changed"),
    "one character short": (TEXT_OF_LINK[:-1], "lost or changed"),
    "lower case": (TEXT_OF_LINK.lower(), "lost or changed"),
    "first half twice": (TEXT_OF_LINK[:99] + TEXT_OF_LINK, "lost or changed"),
    "not base64": ("1.{}{}{}.00000000", "lost or changed"),
    "base64 of a bad length": ("1.AAAAA.00000000", "lost or changed"),
    "not deflate": ("1._____w.00000000", "lost or changed"),
    "another check": (TEXT_OF_LINK[:-8] + "00000000", "lost or changed"),
    "bytes behind the state": (
        packed(body()).replace(".", ".", 1)[:-9] + "AAAA" + packed(body())[-9:],
        "lost or changed",
    ),
    "a stream without its end": (packed(body(), zlib.Z_SYNC_FLUSH), "lost or changed"),
    "a future version": ("2.abc.def~new~form", "version 2, and this page reads versions up to 1: a newer page"),
    "a far future version": ("9999.x", "version 9999"),
    "version nought": ("0.AAAA.00000000", "no version 0"),
    "a decompression bomb": (packed(b" " * 50_000_000), "unpacks to more than 4,000,000 bytes"),
    "a bomb of lists": (packed("[" + "[]," * 1_200_000 + "[]]"), "more than 200,000 JSON values"),
    "deep nesting": (packed(json.dumps(body()).replace('"Hi"', DEEP)), f"nested more than {MAX_DEPTH} levels"),
    "nesting that ends Python's stack": (packed("[" * 100_000), "nested too deeply"),
    "not UTF-8": (packed(b'{"models": "\xff"}'), "not UTF-8"),
    "not JSON": (packed("{'models': []}"), "not valid JSON"),
    "NaN": (packed(json.dumps(body()).replace('"Hi"', "NaN")), "NaN is not JSON"),
    "a number that is infinite": (packed(json.dumps(body()).replace('"Hi"', "1e999")), f"{MESSAGE}.content: inf"),
    "a number of 5,000 digits": (packed(json.dumps(body()).replace('"Hi"', "9" * 5000)), "thousands of digits"),
    "a list": (packed([]), "needs an object with version, models"),
    "null": (packed(None), "needs an object"),
    "an unknown key": (packed(body(__proto__={})), "'__proto__' is not known"),
    "no conversation": (packed({"models": [], "date": "2026-11-30"}), "conversation: is missing"),
    "no messages": (packed(body(conversation={"messages": []})), "conversation.messages: is empty"),
    "a message that is text": (packed(body(conversation=["Hi"])), f"{MESSAGE}: needs an object"),
    "half a character": (packed(json.dumps(body()).replace("Hi", "\\ud83c")), f"{MESSAGE}.content: \\ud83c is half"),
    "half a character in an output": (packed(body(output={"text": "\udc00"})), "output.text: \\udc00 is half"),
    "options out of place": (
        packed(body(conversation={"messages": [USER], "documents": []})),
        "conversation.documents",
    ),
    "thirteen models": (packed(body(models=[{"name": "m"}] * 13)), "models: 13 models are more than the 12"),
    "a model that is a number": (packed(body(models=[7])), "models[0]: needs an object"),
    "a model without a name": (packed(body(models=[{"name": ""}])), "models[0].name: needs the name of a model"),
    "a name of two lines": (packed(body(models=[{"name": "a\nb"}])), "models[0].name: needs the name of a model"),
    "a long name": (packed(body(models=[{"name": "a" * 301}])), "models[0].name: needs the name of a model"),
    "a digest that is none": (packed(body(models=[{"name": "m", "template_sha256": SHA + "\n"}])), "64 hexadecimal"),
    "a revision with a path": (packed(body(models=[{"name": "m", "revision": "../../x"}])), "models[0].revision"),
    "a key of a megabyte": (packed(body(**{"k" * 1_000_000: 1})), "is not known"),
    "an output that is text": (packed(body(output="text")), "output: needs an object"),
    "a format that is markup": (packed(body(output={"text": "", "format": "<b>"})), "output.format: needs one word"),
    "a view that is code": (packed(body(view="');alert(1)//")), "view: needs one word"),
    "a view that is a list": (packed(body(view=["x"])), "view: needs text, not a list"),
    "a date that is none": (packed(body(date="2026-13-01")), "date: needs a date as YYYY-MM-DD"),
    "a date in another form": (packed(body(date="20261130")), "date: needs a date as YYYY-MM-DD"),
    "a date that is a number": (packed(body(date=20261130)), "date: needs text, not a number"),
    "percent signs without end": ("%" * 2_000_000, "no link has more than 1,500,000"),
    "an endless text": ("1." + "A" * 5_000_000, "no link has more than 1,500,000"),
}


@pytest.mark.parametrize(("link", "words"), HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_link_says_what_is_wrong_in_one_line(link, words):
    assert words in problem(decode, link)


@pytest.mark.parametrize("name", ["a decompression bomb", "a bomb of lists", "nesting that ends Python's stack"])
def test_a_bomb_costs_little(name):
    tracemalloc.start()
    started = time.perf_counter()
    problem(decode, HOSTILE[name][0])
    seconds, peak = time.perf_counter() - started, tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 250_000_000
    assert seconds < 20  # tracemalloc and a busy machine included; without a limit it would be minutes


ANYTHING = st.text(st.characters()) | st.text("1.-_#s=%25ABCabc019&?/ \n", max_size=60)


@given(ANYTHING, st.sampled_from(["", "1.", "#s=1.", BASE + "#s="]))
@example("1.\udc80.00000000", "")
def test_any_text_is_a_state_or_one_clear_line(text, start):
    problem(decode, start + text)


@given(st.binary(max_size=80))
def test_any_bytes_behind_a_good_check_are_a_state_or_one_clear_line(data):
    problem(decode, packed(data))
    raw = base64.urlsafe_b64encode(data).decode().rstrip("=")
    problem(decode, f"1.{raw}.00000000")
    problem(decode_file, data)


LOOSE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([*body(), "messages", "options", "role", "name", "text"]), inner, max_size=4)
    ),
    max_leaves=8,
)


@settings(max_examples=150)
@given(st.lists(st.tuples(st.sampled_from([*body(), "unknown"]), LOOSE), min_size=1, max_size=3))
def test_any_json_is_a_state_or_one_clear_line(changes):
    text = json.dumps(body(**dict(changes)))
    for read, form in ((decode, packed(text)), (decode_file, text)):
        try:
            assert encode(read(form))
        except FormatsError as error:
            assert error.kind in ("bad_link", "bad_file", "secret")
            assert "\n" not in error.message


@settings(max_examples=300)
@given(st.integers(0, len(TEXT_OF_LINK) - 1), st.sampled_from("AZaz09-_.="), st.sampled_from(["put", "cut", "replace"]))
def test_a_changed_link_never_opens_as_something_else(place, character, how):
    end = place + (how != "put")
    changed = TEXT_OF_LINK[:place] + ("" if how == "cut" else character) + TEXT_OF_LINK[end:]
    try:
        assert encode(decode(changed)) == TEXT_OF_LINK
    except FormatsError as error:
        assert error.kind == "bad_link"


@pytest.mark.parametrize("value", [None, 7, [], {}, b"1."])
def test_what_is_no_text_at_all_is_an_error_too(value):
    problem(decode, value)
    if value != b"1.":
        problem(decode_file, value)


# Lengths.


def noise(size: int) -> str:
    return random.Random(size).randbytes(size // 2).hex()


@pytest.mark.parametrize("size", [2_000, 64_000, 1_500_000])
def test_long_states_fit(size):
    long = state(conversation=Conversation(({"role": "user", "content": noise(size)},)))
    text = encode(long)
    assert len(text) < 0.9 * size + 1000
    assert decode(text) == long


def test_what_is_too_long_for_a_link_goes_into_a_file():
    long = state(conversation=Conversation(({"role": "user", "content": noise(3_000_000)},)))
    with pytest.raises(FormatsError, match="Save it as a file instead") as caught:
        encode(long)
    assert caught.value.kind == "too_long_for_link"
    assert decode_file(encode_file(long).encode()) == long
    with pytest.raises(FormatsError) as caught:
        encode(state(output=SharedOutput("a" * 5_000_000)))  # packs well, but no page would unpack it
    assert caught.value.kind == "too_long_for_link"


def test_a_file_has_its_limit_too():
    with pytest.raises(FormatsError, match="16,000,000") as caught:
        encode_file(state(output=SharedOutput("a" * 16_000_000)))
    assert caught.value.kind == "too_large"
    assert "larger than the 16,000,000" in problem(decode_file, b" " * 16_000_001)
    assert "version 2" in problem(decode_file, json.dumps(body(version=2)))


# Secrets.


def conversation(**options) -> Conversation:
    return Conversation((USER,), template_kwargs=options)


@pytest.mark.parametrize(
    ("secretive", "place"),
    [
        (state(models=(SharedModel(f"org/{TOKEN}"),)), "models[0].name"),
        (state(models=(SharedModel("https://user:pass@host/org/model"),)), "models[0].name"),
        (state(models=(SharedModel("m"), SharedModel("m", "https://token@host/x"))), "models[1].repo"),
        (state(output=SharedOutput("", None, "https://a:b@host/m")), "output.model"),
        (state(output=SharedOutput(f"my token is {TOKEN}.")), "output.text"),
        (
            state(conversation=Conversation(({"role": "user", "content": f"key={TOKEN}"},))),
            "conversation.messages[0].content",
        ),
        (state(conversation=Conversation(({"role": "user", TOKEN: "x"},))), "conversation.messages[0] "),
        (state(conversation=conversation(token="x")), "conversation.options.kwargs.token"),
        (state(conversation=conversation(api_key="x")), "conversation.options.kwargs.api_key"),
        (state(conversation=conversation(**{"OPENAI-API-KEY": "x"})), 'conversation.options.kwargs["OPENAI-API-KEY"]'),
        (
            state(conversation=conversation(headers={"Authorization": "Bearer x"})),
            "conversation.options.kwargs.headers.Authorization",
        ),
        (
            state(conversation=conversation(a=[{"client_secret": {"v": ["x"]}}])),
            "conversation.options.kwargs.a[0].client_secret.v[0]",
        ),
        (state(conversation=conversation(hf_token="x")), "conversation.options.kwargs.hf_token"),
    ],
)
def test_a_secret_never_enters_a_link_or_a_file(secretive, place):
    for write in (encode, encode_file, share.link):
        with pytest.raises(FormatsError, match="remove it before you share") as caught:
            write(secretive)
        assert caught.value.kind == "secret"
        assert caught.value.message.startswith(place)
        assert TOKEN not in caught.value.message


def test_names_that_are_no_secrets_are_shared():
    options = {
        "bos_token": "<s>",
        "image_token": "<img>",
        "token": None,
        "secret": "",
        "max_tokens": 5,
        "use_token": True,
    }
    tool = {"type": "function", "function": {"name": "log_in", "parameters": {"properties": {"password": {}}}}}
    call = {"role": "assistant", "tool_calls": [{"function": {"name": "log_in", "arguments": {"password": "hunter2"}}}]}
    plain = state(
        conversation=Conversation((USER, call), (tool,), template_kwargs=options),
        models=(SharedModel("Qwen/Qwen3-8B@main"), SharedModel("./a folder/with@sign")),
    )
    assert decode(encode(plain)) == plain


@pytest.mark.parametrize(
    ("broken", "kind", "words"),
    [
        (state(output=SharedOutput("\ud83c")), "bad_state", r"output.text: \ud83c is half of a character"),
        (state(conversation=Conversation(({"role": "user", "content": "\ud83c"},))), "bad_conversation", "[0].content"),
        (state(conversation=Conversation(())), "bad_conversation", "conversation.messages: is empty"),
        (state(conversation=conversation(n=10**5000)), "bad_state", "thousands of digits"),
        (state(conversation=conversation(n=[0] * 200_001)), "bad_state", "more than 200,000 JSON values"),
        (state(models=(SharedModel("m"),) * 13), "bad_state", "13 models"),
        (state(models=(SharedModel("two\nlines"),)), "bad_state", "models[0].name"),
        (state(view="<b>"), "bad_state", "view: needs one word"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_no_link_can_carry_is_refused_in_words(broken, kind, words):
    for write in (encode, encode_file):
        with pytest.raises(FormatsError) as caught:
            write(broken)
        assert caught.value.kind == kind
        assert words in caught.value.message


# The same prompt later.


def column(
    prompt: str | None, template: str | None, revision: str | None = REVISION, name: str = "Qwen/Qwen3-8B"
) -> Column:
    digest = None if template is None else hashlib.sha256(template.encode()).hexdigest()
    source = Source("hub", "Qwen/Qwen3-8B", revision, digest)
    return Column(name, "Qwen3", source, {}, prompt, error=None if prompt is not None else Problem("gated", "no"))


def shared(*columns: Column) -> State:
    return share.state_of(Comparison(Conversation((USER,)), "2026-11-30", columns, {}))


def test_a_state_says_what_was_shown():
    made = shared(column("Hi", "template"))
    assert made == state(
        models=(dataclasses.replace(state().models[0], prompt_sha256=hashlib.sha256(b"Hi").hexdigest()),)
    )
    assert made.models[0].pinned == f"Qwen/Qwen3-8B@{REVISION}"
    assert SharedModel("Qwen/Qwen3-8B@main", revision=REVISION).pinned == f"Qwen/Qwen3-8B@{REVISION}"
    assert SharedModel("chat.jinja").pinned is None


def test_the_same_source_has_no_differences():
    columns = (column("Hi", "template"), column(None, None), column("half \ud83c", "t"))
    assert share.differences(shared(*columns), columns) == ()


def test_differences_name_the_column_and_what_is_now():
    made = shared(*[column("Hi", "template")] * 7)
    today = (
        column("Hi", "template", None),
        column("Hey", "changed", "f" * 40),
        column("Hi", "changed"),
        column("Hey", "template"),
        column(None, None),
        column("Hey", None),
        column(None, "changed"),
    )
    found = {difference.column: difference for difference in share.differences(made, today)}
    assert sorted(found) == [1, 2, 3, 5, 6]
    assert found[1].then == made.models[1]
    assert found[1].now.revision == "f" * 40
    now = hashlib.sha256(b"changed").hexdigest()[:12]
    assert found[1].message == (
        f"the template was sha256 {SHA[:12]} (revision 0123456789ab) when this was shared "
        f"and is sha256 {now} (revision ffffffffffff) today"
    )
    assert found[2].message.endswith("; this prompt is the same with both")
    assert "special tokens or the libraries" in found[3].message
    assert found[5].message == "the prompt is not the one that was shared"


def test_the_diff_of_two_prompts_shows_every_change():
    assert share.prompt_diff("a\nb\r\n", "a\nb\r\n") == ""
    assert share.prompt_diff("a\nb", "a\nc\n").split("\n") == [
        "--- then",
        "+++ now",
        "@@ -1,2 +1,3 @@",
        " a",
        "-b",
        "+c",
        "+",
    ]
    assert "-b\x0cc\u2028d" in share.prompt_diff("a\nb\x0cc\u2028d", "a")


def test_what_a_link_shows_is_told_in_short():
    assert share.about(state()) == {"said": "Hi", "tools": 0, "models": 1, "date": "2026-11-30"}
    long = Conversation(({"role": "user", "content": "What is\nthe weather like " * 9},), ({}, {}))
    told = share.about(state(conversation=long, models=(SharedModel("a"), SharedModel("b"))))
    assert told["tools"] == 2 and told["models"] == 2
    assert told["said"].startswith("What is the weather like What is") and told["said"].endswith("…")
    silent = Conversation(({"role": "user", "content": None},))
    assert share.about(state(conversation=silent, models=()))["said"] == ""
