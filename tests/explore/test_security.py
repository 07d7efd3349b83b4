"""Who is answered: the page of this server, opened with its token, and nobody else."""

import http.client
import json
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

pytest.importorskip("uvicorn")

import tacit
from tacit.explore import Explorer
from tacit.explore.server import Server

ASK = json.dumps({"ask": [{"given": "", "sets": [[0]]}]})


@pytest.fixture(scope="module")
def server():
    with Server(Explorer(tacit.datasets.load_visits())) as running:
        yield running


def request(server, path, method="GET", body=None, **headers):
    host = server.url.removeprefix("http://").partition("/")[0]
    connection = http.client.HTTPConnection(host, timeout=30)
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, path, body, given)
    answer = connection.getresponse()
    read = answer.read()
    connection.close()
    return answer.status, dict(answer.getheaders()), read


@pytest.fixture(scope="module")
def cookie(server):
    path = server.url[server.url.index("/?") :]
    status, headers, _ = request(server, path)
    assert status == 303
    assert headers["location"] == "/"
    given = headers["set-cookie"]
    assert "HttpOnly" in given
    assert "SameSite=Strict" in given
    return given.partition(";")[0]


def test_the_page_is_answered(server, cookie):
    status, headers, page = request(server, "/", Cookie=cookie)
    assert status == 200
    assert b"explore.css" in page
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert "unsafe" not in policy
    assert "access-control-allow-origin" not in headers
    assert headers["cache-control"] == "no-store"
    status, _, counts = request(server, "/api/tables", "POST", ASK, Cookie=cookie)
    assert status == 200
    assert counts[0] in (1, 2, 4)


@pytest.mark.parametrize("path", ["/", "/static/app.js", "/api/schema", "/nothing"])
def test_without_the_cookie_nothing_is(server, path):
    for given in ({}, {"Cookie": "tacit-1=x"}, {"Cookie": "=;;"}):
        status, headers, said = request(server, path, **given)
        assert status == 403
        assert b"token" in said
        assert "default-src 'none'" in headers["content-security-policy"]


def test_a_wrong_token_is_refused(server):
    assert request(server, "/?token=wrong")[0] == 403
    assert request(server, "/?token=")[0] == 403


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "evil.example:80"},
        {"Host": ""},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
    ],
)
def test_other_hosts_and_pages_are_refused(server, cookie, headers):
    for path, method, body in (("/api/tables", "POST", ASK), ("/api/schema", "GET", None)):
        status, _, said = request(server, path, method, body, Cookie=cookie, **headers)
        assert status in (400, 403), said
        assert b"columns" not in said
    assert request(server, "/?token=x", **headers)[0] in (400, 403)


def test_a_link_of_another_page_may_open_this_one(server, cookie):
    given = {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate"}
    assert request(server, "/", Cookie=cookie, **given)[0] == 200
    assert request(server, "/api/tables", "POST", ASK, Cookie=cookie, **given)[0] == 403


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "TRACE"])
def test_other_methods_are_refused(server, cookie, method):
    assert request(server, "/api/tables", method, Cookie=cookie)[0] == 403


def test_large_requests_are_refused(server, cookie):
    body = json.dumps({"ask": "x" * 2_000_000})
    try:
        status = request(server, "/api/tables", "POST", body, Cookie=cookie)[0]
    except (BrokenPipeError, ConnectionResetError):  # it was not even read
        status = 413
    assert status == 413
    pieces = iter([b"x" * 400_000] * 5)
    try:
        status = request(server, "/api/tables", "POST", pieces, Cookie=cookie)[0]
    except (BrokenPipeError, ConnectionResetError):
        status = 413
    assert status == 413


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("{", "is no JSON"),
        ("[" * 100_000, "is no JSON"),
        ("[]", "must be an object with 'ask'"),
        ('{"ask": [{"sets": [[999]]}]}', "a set is up to 4"),
        ("\xff", "is no JSON"),
    ],
)
def test_bad_requests_are_told_why(server, cookie, body, said):
    body = body.encode("latin-1")
    status, headers, problem = request(server, "/api/tables", "POST", body, Cookie=cookie)
    assert status == 400
    assert headers["content-type"] == "application/json"
    assert said in json.loads(problem)["problem"]


@pytest.mark.parametrize("path", ["/static/../server.py", "/static/%2e%2e/server.py", "/static/x"])
def test_there_are_no_other_files(server, cookie, path):
    assert request(server, path, Cookie=cookie)[0] == 404


def test_many_at_once_get_the_same_answers(server, cookie):
    names = tacit.datasets.load_visits().schema.names
    asks = [
        json.dumps({"ask": [{"given": f"{c}:!0", "sets": [[d] for d in range(len(names))]}]})
        for c in range(6)
    ]

    def ask(body):
        return request(server, "/api/tables", "POST", body, Cookie=cookie)[::2]

    alone = [ask(body) for body in asks]
    assert {status for status, _ in alone} == {200}
    with ThreadPoolExecutor(16) as pool:
        together = list(pool.map(ask, asks * 40))
    assert together == alone * 40


def test_it_listens_on_this_machine_only(server):
    assert server._socket.getsockname()[0] == "127.0.0.1"


def test_a_port_in_use_is_an_error(server):
    port = server._socket.getsockname()[1]
    with pytest.raises(tacit.InputError, match=f"port: {port} cannot be used"):
        Server(Explorer(tacit.datasets.load_visits()), port)


@pytest.mark.parametrize("other", ['pref={"a":1}', "x=a b", "a[b]=c", "flag"])
def test_cookies_of_other_servers_do_no_harm(server, cookie, other):
    assert request(server, "/", Cookie=f"{other}; {cookie}")[0] == 200
    assert request(server, "/", Cookie=other)[0] == 403


def test_no_more_is_computed_than_there_is_room_for(monkeypatch):
    explorer = Explorer(tacit.datasets.load_visits())
    wait, computing = threading.Event(), threading.Semaphore(0)

    def slow(asked):
        computing.release()
        wait.wait(30)
        return {}

    monkeypatch.setattr(explorer, "findings", slow)
    with Server(explorer) as running:
        _, headers, _ = request(running, running.url[running.url.index("/?") :])
        cookie = headers["set-cookie"].partition(";")[0]

        def ask():
            return request(running, "/api/findings", "POST", "{}", Cookie=cookie)

        with ThreadPoolExecutor() as pool:
            first = [pool.submit(ask) for _ in range(2)]
            for _ in range(2):
                assert computing.acquire(timeout=30)
            status, _, said = ask()
            assert status == 503
            assert b"too much is being computed" in said
            wait.set()
            assert [asked.result()[0] for asked in first] == [200, 200]
        assert ask()[0] == 200


def test_the_address_for_the_browser_is_good_for_once():
    with Server(Explorer(tacit.datasets.load_visits())) as running:
        path = running._opened[running._opened.index("/?") :]
        assert path not in running.url
        assert [request(running, path)[0] for _ in range(2)] == [303, 403]
        assert request(running, running.url[running.url.index("/?") :])[0] == 303
