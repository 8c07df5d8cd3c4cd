"""The page at "/", as a browser shows it, as it is read without script, and what it is made of."""
import hashlib
import json
import os
import pathlib
import signal
import tempfile
import time
import unittest

import openapi_spec_validator

import browser
import web
from daemon import Daemon, wait_until
from models import placement, synthetic, tensor

# Far more than anything here takes, so that a slow machine fails no test.
LIMIT_S = 60
WORDS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "b", "c")
TOKENS = [tensor("input_ids", [-1], "INT64"), tensor("attention_mask", [-1], "INT64")]
EVIL = "<img src=x onerror=alert(1)>"


def text_model(folder, name="texts"):
    """Gives back the tokens of a text."""
    vocab = pathlib.Path(folder) / "vocab.txt"
    vocab.write_text("".join(f"{word}\n" for word in WORDS))
    return synthetic(name, TOKENS, text={"tokenizer": str(vocab)})


class Page(unittest.TestCase):
    def serve(self, *models, **more):
        self.daemon = self.enterContext(Daemon(list(models) or [synthetic("m")], **more))
        return self.daemon

    def ask(self, path, **headers):
        status, told, read = web.ask(self.daemon.http, "GET", path, headers=headers)
        return status, told, read.decode()

    def folder(self):
        return self.enterContext(tempfile.TemporaryDirectory(prefix="mpsd-test-"))

    def with_token(self, *roles):
        """A daemon that asks for a token, and the token."""
        tokens = pathlib.Path(self.folder()) / "tokens"
        tokens.write_text(f"ops {hashlib.sha256(b'secret').hexdigest()}\n")
        tokens.chmod(0o600)
        self.serve(access={"tokens": str(tokens), "open": ["health"],
                           "rules": [{"token": "ops", "roles": list(roles)}]})
        self.daemon.http_headers = {"Authorization": "Bearer secret"}
        return "secret"


class PageAsText(Page):
    def test_the_status_is_what_ps_shows(self):
        daemon = self.serve(synthetic("m", placement=placement(processes=2)))
        daemon.wait_all_serving()
        status = json.loads(self.ask("/mpsd/status")[2])
        shown = daemon.ps()["m"]
        model = status["models"][0]
        self.assertEqual([worker["pid"] for worker in model["workers"]],
                         [worker["pid"] for worker in shown["workers"]])
        self.assertEqual(model["spec"], shown["spec"])
        self.assertEqual(model["counts"]["answered_requests"], 0)
        limits = {limit["name"]: limit["value"] for limit in status["limits"]}
        self.assertEqual(limits["message_bytes"],
                         daemon.metric("mpsd_limit", limit="message_bytes"))

    def test_warnings_of_the_config(self):
        self.serve(sandbox="off")
        warnings = json.loads(self.ask("/mpsd/status")[2])["warnings"]
        self.assertEqual(len(warnings), 1, warnings)
        self.assertIn("the sandbox is off", warnings[0])
        self.assertIn("the sandbox is off", self.ask("/")[2])

    def test_it_is_read_without_script(self):
        self.serve(synthetic("m"), synthetic("bad", parameters={EVIL: "1"}))
        status, headers, html = self.ask("/")
        self.assertEqual(status, 200)
        self.assertEqual(headers["Content-Type"], "text/html; charset=utf-8")
        self.assertIn("script-src 'sha256-", headers["Content-Security-Policy"])
        self.assertIn("<td>m</td><td>1</td><td>ready</td><td>cpu</td>", html)
        self.assertIn("&lt;img src=x onerror=alert(1)&gt;", html)
        self.assertNotIn(EVIL, html)

    def test_a_browser_without_a_token_gets_a_page_without_a_state(self):
        token = self.with_token("metrics")
        status, headers, html = self.ask("/", Accept="text/html")
        self.assertEqual(status, 401)
        self.assertEqual(headers["Content-Type"], "text/html; charset=utf-8")
        self.assertNotIn("<td>m</td>", html)
        self.assertEqual(self.ask("/")[1]["Content-Type"], "application/json")
        status, _, html = self.ask("/", Authorization=f"Bearer {token}")
        self.assertEqual(status, 200)
        self.assertIn("<td>m</td>", html)

    def test_folders_with_names_that_are_no_utf8(self):
        repository = pathlib.Path(self.folder())
        os.mkdir(os.fsencode(repository) + b"/bad\xff")
        self.serve(model_repository=str(repository))
        self.assertEqual(self.ask("/mpsd/status")[0], 200)
        self.assertEqual(self.ask("/")[0], 200)
        self.assertEqual(self.ask("/v2/models/stats")[0], 200)

    def test_the_document_of_routes_is_valid(self):
        self.serve()
        document = json.loads(self.ask("/docs")[2])
        openapi_spec_validator.validate(document)
        for path, operations in document["paths"].items():
            if "{" not in path and "get" in operations:
                status, _, text = self.ask(path)
                self.assertNotEqual(status, 405, path)
                self.assertNotIn("there is no such path", text, path)


@unittest.skipUnless(browser.program(), "there is no Chromium")
class PageInABrowser(Page):
    def show(self, *models, **more):
        if models or more or not hasattr(self, "daemon"):
            self.serve(*models, **more)
        self.browser = self.enterContext(browser.Browser())
        self.browser.open(f"http://{self.daemon.http}/")

    def wait_text(self, *texts):
        wait_until(lambda: all(text in self.browser.text() for text in texts), LIMIT_S,
                   f"{texts} on the page")

    def wait_for(self, expression, what):
        return wait_until(lambda: self.browser.run(expression), LIMIT_S, what)

    def wait_live(self):
        self.wait_for("!!document.querySelector('#live:not([hidden])')", "the live page")

    def click(self, selector):
        self.browser.run(f"document.querySelector({json.dumps(selector)}).click()")

    def open_form(self):
        self.browser.run("document.querySelector('article details:nth-of-type(2)').open = true; null")
        self.wait_for("!!document.querySelector('article form button')", "the form")

    def try_it(self, **values):
        """Fills the form of the only model, sends it, and returns the answer's text."""
        self.open_form()
        for name, value in values.items():
            self.browser.run(f"""[...document.querySelectorAll('article form label')]
                .find(label => label.textContent.startsWith({json.dumps(name + ' ')}))
                .querySelector('textarea').value = {json.dumps(value)}; null""")
        self.click("article form button")
        return self.wait_for("(document.querySelector('article form pre') || {}).textContent || ''",
                             "the answer")

    def check_quiet(self):
        self.assertEqual(self.browser.complaints, [])

    def test_it_shows_the_models(self):
        self.show(synthetic("m", placement=placement(processes=2)), synthetic("other"))
        self.wait_live()
        self.wait_text("m 1", "other 1", "ready", "Limits", "serving")
        self.assertEqual(self.browser.run("document.querySelectorAll('article').length"), 2)
        self.wait_text("requests 0/s", "waiting 0", "nothing in the last minute")
        legends = self.wait_for("""[...document.querySelectorAll('figcaption')][1].children.length
            === 3 && [...document.querySelectorAll('figcaption')][1].innerText""", "two legends")
        self.assertRegex(legends, r"latency \S*\s+queued ")
        gap = self.browser.run("getComputedStyle(document.querySelector('figcaption')).columnGap")
        self.assertNotIn(gap, ("normal", "0px"))
        self.check_quiet()

    def test_a_killed_worker(self):
        self.show(synthetic("m", parameters={"load_delay": "2s"}))
        self.wait_live()
        os.kill(self.daemon.ps()["m"]["workers"][0]["pid"], signal.SIGKILL)
        killed = time.monotonic()
        self.wait_text("signal 9")
        print(f"  shown after {time.monotonic() - killed:.2f} s", flush=True)
        self.daemon.wait_all_serving()
        self.check_quiet()

    def test_the_form_sends_numbers(self):
        self.show()
        self.wait_live()
        answer = json.loads(self.try_it(x=json.dumps(list(range(16)))))
        self.assertEqual(answer["outputs"][0]["data"], list(range(16)))
        self.assertTrue(self.browser.run("document.querySelector('article form p').innerText")
                        .startswith("answered after"))
        self.wait_for("document.querySelectorAll('polyline')[0].getAttribute('points')", "a plot")
        self.check_quiet()

    def test_the_form_sends_texts(self):
        self.show(text_model(self.folder()))
        self.wait_live()
        answer = json.loads(self.try_it(text="a b c\nb"))
        self.assertEqual(answer["outputs"][0]["data"], [2, 4, 5, 6, 3, 2, 5, 3, 0, 0])
        self.check_quiet()

    def test_a_model_that_takes_texts_has_boxes_for_texts_alone(self):
        """It is there without a click, and asks for no tokens."""
        self.show(text_model(self.folder()))
        self.wait_live()
        self.wait_for("""(box => box !== null && box.checkVisibility())
            (document.querySelector('article form textarea'))""", "the box")
        labels = self.browser.run("document.querySelector('article form').textContent")
        self.assertTrue(labels.startswith("text BYTES"), labels)
        self.assertNotIn("INT64", labels)

    def test_the_form_tells_an_error(self):
        self.show()
        self.wait_live()
        self.assertIn("shape", self.try_it(x="[1]"))

    def test_texts_of_a_model_are_no_markup(self):
        self.show(synthetic("m"), synthetic("bad", parameters={EVIL: "1"}))
        self.wait_live()
        self.wait_text(EVIL)
        self.assertEqual(self.browser.run("document.images.length"), 0)
        self.check_quiet()

    def test_a_narrow_window(self):
        self.show(synthetic("m", placement=placement(processes=2)), text_model(self.folder()))
        self.browser.resize(320)
        self.wait_live()
        for element in ("article", "form"):
            self.wait_for(f"!!document.querySelector('{element}')", element)
        self.open_form()
        wide = "document.documentElement.scrollWidth"
        self.assertLessEqual(self.browser.run(wide), 320)
        self.browser.set_script(False)
        self.browser.open(f"http://{self.daemon.http}/")
        self.wait_text("Workers", "the moment in which the page was loaded")
        self.assertLessEqual(self.browser.run(wide), 320)

    def test_light_and_dark(self):
        self.show()
        self.wait_live()
        light = {}
        for scheme in ("light", "dark"):
            self.browser.prefer(scheme)
            ground, ink = self.browser.run("""(() => {
                const style = getComputedStyle(document.body);
                const sum = text => text.match(/\\d+/g).slice(0, 3).reduce((a, b) => a + +b, 0);
                return [sum(style.backgroundColor), sum(style.color)];
              })()""")
            light[scheme] = ground > ink
            self.assertGreater(abs(ground - ink), 300, scheme)
        self.assertEqual(light, {"light": True, "dark": False})
        self.check_quiet()

    def test_a_token_opens_it(self):
        token = self.with_token("metrics")
        self.show()
        self.wait_text("A token with the role")
        self.assertNotIn("ready", self.browser.run("document.querySelector('header').innerText"))
        self.browser.run(f"document.getElementById('token').value = '{token}'")
        self.click("#access button")
        self.wait_live()
        self.wait_text("m 1")
        self.assertFalse(self.shows_buttons(), "the role may not change the daemon")

    def shows_buttons(self):
        return self.browser.run("""[...document.querySelectorAll('button')]
            .some(button => button.textContent === 'unload' && button.offsetParent !== null)""")

    def test_a_model_is_unloaded_and_loaded(self):
        self.show(synthetic("m"), synthetic("other"), model_control="explicit")
        self.wait_live()
        self.browser.run("window.confirm = () => true")
        self.click("article button:nth-of-type(2)")
        self.wait_text("Not loaded")
        self.assertEqual(self.browser.run("document.querySelectorAll('article').length"), 1)
        self.click("#others button")
        self.wait_for("document.querySelectorAll('article').length === 2", "the model")
        self.wait_text("m 1", "other 1")
        self.check_quiet()

    def test_the_role_control_has_buttons(self):
        token = self.with_token("control")
        self.show()
        self.wait_text("A token with the role")
        self.browser.run(f"document.getElementById('token').value = '{token}'")
        self.click("#access button")
        self.wait_live()
        self.assertTrue(self.shows_buttons())


if __name__ == "__main__":
    unittest.main()
