"""OpenAI's client for Node as it is. What it got is compared here."""
import unittest

import node_clients
import text_clients


class Node(text_clients.TextClientTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.got = node_clients.run("openai.mjs", MPSD_URL=cls.url)

    def check_answer(self, answer, texts, tokens, dimensions=8):
        self.assertEqual([one["index"] for one in answer["data"]], list(range(len(texts))))
        for one, text in zip(answer["data"], texts, strict=True):
            self.check_vector(one["embedding"], text, dimensions)
        self.assertEqual(answer["usage"], {"prompt_tokens": tokens, "total_tokens": tokens})

    def test_models(self):
        self.assertEqual(sorted(self.got["models"]), ["e", "r"])
        self.assertEqual((self.got["model"]["id"], self.got["model"]["task"]), ("e", "embedding"))

    def test_texts(self):
        self.check_answer(self.got["base64"], ["a b", "", "c"], 4 + 2 + 3)
        self.check_answer(self.got["float"], ["a b"], 4)

    def test_tokens(self):
        self.check_answer(self.got["tokens"], ["a", "b"], 6)

    def test_dimensions(self):
        self.check_answer(self.got["cut"], ["a"], 3, dimensions=3)

    def test_errors(self):
        self.assertEqual(self.got["unknown"], {
            "class": "NotFoundError", "status": 404, "type": "invalid_request_error",
            "code": "model_not_found"})
        self.assertEqual(self.got["empty"], {
            "class": "BadRequestError", "status": 400, "type": "invalid_request_error",
            "code": None})
        self.assertEqual((self.got["long"]["status"], self.got["long"]["code"]),
                         (413, "context_length_exceeded"))


if __name__ == "__main__":
    node_clients.need("openai")
    unittest.main(verbosity=2)
