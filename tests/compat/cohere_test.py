"""Cohere's client as it is: the reranking of both of its versions."""
import asyncio
import unittest

import text_clients

text_clients.need("cohere")
import cohere  # noqa: E402

TEXTS = ["b", "f", "c", "f"]


class Cohere(text_clients.TextClientTest):
    def check(self, answer, top_n=None, texts=TEXTS):
        self.assertEqual([(one.index, one.relevance_score) for one in answer.results],
                         self.ranking("a", texts, top_n))

    def test_the_first_version(self):
        client = cohere.Client("none", base_url=self.url)
        self.check(client.rerank(model="r", query="a", documents=TEXTS))
        answer = client.rerank(model="r", query="a", documents=[{"text": text} for text in TEXTS],
                               top_n=2, return_documents=True)
        self.check(answer, 2)
        self.assertEqual([one.document.text for one in answer.results],
                         [TEXTS[one.index] for one in answer.results])

    def test_the_second_version(self):
        client = cohere.ClientV2("none", base_url=self.url)
        answer = client.rerank(model="r", query="a", documents=TEXTS)
        self.check(answer)
        self.assertTrue(answer.id)
        self.check(client.rerank(model="r", query="a", documents=TEXTS, top_n=3), 3)

    def test_asyncio(self):
        async def ask():
            client = cohere.AsyncClientV2("none", base_url=self.url)
            return await client.rerank(model="r", query="a", documents=TEXTS)
        self.check(asyncio.run(ask()))

    def test_an_unknown_model(self):
        for client in (cohere.Client("none", base_url=self.url),
                       cohere.ClientV2("none", base_url=self.url)):
            with self.assertRaises(cohere.NotFoundError) as caught:
                client.rerank(model="x", query="a", documents=TEXTS)
            self.assertEqual(caught.exception.body["error"]["code"], "model_not_found")

    def test_no_documents(self):
        client = cohere.ClientV2("none", base_url=self.url)
        with self.assertRaises(cohere.BadRequestError) as caught:
            client.rerank(model="r", query="a", documents=[])
        self.assertEqual(caught.exception.body["error"]["type"], "invalid_request_error")


if __name__ == "__main__":
    unittest.main(verbosity=2)
