"""LiteLLM as it is: its providers that take the URL of a server."""
import asyncio
import unittest

import text_clients

text_clients.need("litellm")
import litellm  # noqa: E402

TEXTS = ["b", "f", "c", "f"]
# Providers, and where they are below the server's URL. infinity's documents are bare texts.
WITH_DOCUMENTS = (("cohere", ""), ("jina_ai", ""), ("hosted_vllm", "/v1"))


class LiteLlm(text_clients.TextClientTest):
    def embed(self, provider="openai", model="e", **more):
        return litellm.embedding(model=f"{provider}/{model}", api_base=f"{self.url}/v1",
                                 api_key="none", num_retries=0, **more)

    def check_answer(self, answer, texts, tokens):
        self.assertEqual([one["index"] for one in answer.data], list(range(len(texts))))
        for one, text in zip(answer.data, texts, strict=True):
            self.check_vector(one["embedding"], text)
        self.assertEqual((answer.usage.prompt_tokens, answer.usage.total_tokens),
                         (tokens, tokens))

    def test_embeddings(self):
        for provider in ("openai", "hosted_vllm"):
            with self.subTest(provider):
                self.check_answer(self.embed(provider, input=["a b", "c"]), ["a b", "c"], 7)
                self.check_answer(self.embed(provider, input="a"), ["a"], 3)

    def test_dimensions(self):
        answer = self.embed("hosted_vllm", input=["a"], dimensions=3)
        self.check_vector(answer.data[0]["embedding"], "a", dimensions=3)

    def test_asyncio(self):
        answer = asyncio.run(litellm.aembedding(
            model="openai/e", api_base=f"{self.url}/v1", api_key="none", input=["a", "b c"]))
        self.check_answer(answer, ["a", "b c"], 7)

    def test_errors_of_embeddings(self):
        with self.assertRaises(litellm.NotFoundError):
            self.embed(model="x", input=["a"])
        with self.assertRaises(litellm.BadRequestError):
            self.embed(input=[])

    def rerank(self, provider, base, model="r", **more):
        return litellm.rerank(model=f"{provider}/{model}", api_base=base, api_key="none",
                              query="a", documents=TEXTS, **more)

    def check_ranking(self, answer, top_n=None):
        self.assertEqual([(one["index"], one["relevance_score"]) for one in answer.results],
                         self.ranking("a", TEXTS, top_n))

    def test_rankings(self):
        for provider, base in (*WITH_DOCUMENTS, ("infinity", "")):
            with self.subTest(provider):
                for top_n in (None, 2):
                    answer = self.rerank(provider, self.url + base, top_n=top_n,
                                         return_documents=False)
                    self.check_ranking(answer, top_n)

    def test_rankings_with_documents(self):
        for provider, base in WITH_DOCUMENTS:
            with self.subTest(provider):
                answer = self.rerank(provider, self.url + base)
                self.check_ranking(answer)
                self.assertEqual([one["document"]["text"] for one in answer.results],
                                 [TEXTS[one["index"]] for one in answer.results])

    def test_an_unknown_reranker(self):
        with self.assertRaisesRegex(litellm.APIConnectionError, "model_not_found"):
            self.rerank("cohere", self.url, model="x")


class OfTei(text_clients.TextClientTest):
    models = ("r",)

    def test_a_ranking(self):
        answer = litellm.rerank(model="huggingface/r", api_base=self.url, api_key="none",
                                query="a", documents=TEXTS, return_documents=True)
        self.assertEqual([(one["index"], one["relevance_score"]) for one in answer.results],
                         self.ranking("a", TEXTS))


if __name__ == "__main__":
    unittest.main(verbosity=2)
