"""Ollama's client as it is, with the address of the server."""
import unittest

import text_clients

text_clients.need("ollama")
import ollama  # noqa: E402


class Ollama(text_clients.TextClientTest):
    def setUp(self):
        self.client = ollama.Client(host=self.url)

    def test_embed(self):
        texts = ["a b", "c"]
        for model in ("e", "e:latest"):
            answer = self.client.embed(model=model, input=texts)
            self.assertEqual(answer.model, "e")
            for vector, text in zip(answer.embeddings, texts, strict=True):
                self.check_vector(vector, text)

    def test_the_older_call(self):
        self.check_vector(self.client.embeddings(model="e:latest", prompt="a b").embedding, "a b")

    def test_the_models(self):
        names = [model.model for model in self.client.list().models]
        self.assertEqual(sorted(names), ["e:latest", "r:latest"])
        self.assertEqual(sorted(model.model for model in self.client.ps().models), sorted(names))
        for name in names:
            self.client.show(name)
        self.assertEqual(self.client.show("e").capabilities, ["embedding"])
        self.assertEqual(self.client.show("e").modelinfo["encoder.embedding_length"], 8)

    def test_a_model_that_is_not_there(self):
        for ask in (lambda: self.client.show("none:latest"),
                    lambda: self.client.embed(model="none", input="a"),
                    lambda: self.client.embed(model="e:v2", input="a")):
            with self.assertRaises(ollama.ResponseError) as caught:
                ask()
            self.assertEqual(caught.exception.status_code, 404)

    def test_what_it_does_not_do(self):
        with self.assertRaises(ollama.ResponseError) as caught:
            self.client.chat(model="e", messages=[{"role": "user", "content": "a"}])
        self.assertEqual(caught.exception.status_code, 404)
        self.assertEqual(caught.exception.error, "there is no such path")


if __name__ == "__main__":
    unittest.main(verbosity=2)
