"""LlamaIndex's OpenAILikeEmbedding as it is."""
import asyncio
import unittest

import text_clients

text_clients.need("llama_index.embeddings.openai_like")
import openai  # noqa: E402
from llama_index.embeddings.openai_like import OpenAILikeEmbedding  # noqa: E402


class LlamaIndex(text_clients.TextClientTest):
    def embedding(self, **more):
        return OpenAILikeEmbedding(**{"model_name": "e", "api_base": f"{self.url}/v1",
                                      "api_key": "fake", "embed_batch_size": 2,
                                      "max_retries": 0, **more})

    def test_a_query_and_a_text(self):
        self.check_vector(self.embedding().get_query_embedding("a b"), "a b")
        self.check_vector(self.embedding().get_text_embedding("c"), "c")

    def test_texts_in_several_requests(self):
        texts = ["a b", "c", "d e f", "a", "h"]
        vectors = self.embedding().get_text_embedding_batch(texts)
        for vector, text in zip(vectors, texts, strict=True):
            self.check_vector(vector, text)

    def test_newlines_are_spaces(self):
        self.check_vector(self.embedding().get_text_embedding("a\nb"), "a b")

    def test_dimensions(self):
        vector = self.embedding(dimensions=3).get_text_embedding("a")
        self.check_vector(vector, "a", dimensions=3)

    def test_asyncio(self):
        vectors = asyncio.run(self.embedding().aget_text_embedding_batch(["a", "b c", "d"]))
        for vector, text in zip(vectors, ["a", "b c", "d"], strict=True):
            self.check_vector(vector, text)

    def test_an_unknown_model(self):
        with self.assertRaises(openai.NotFoundError) as caught:
            self.embedding(model_name="x").get_text_embedding("a")
        self.assertEqual(caught.exception.code, "model_not_found")

    def test_dimensions_that_the_model_has_not(self):
        with self.assertRaises(openai.BadRequestError) as caught:
            self.embedding(dimensions=9).get_text_embedding("a")
        self.assertEqual(caught.exception.type, "invalid_request_error")


if __name__ == "__main__":
    unittest.main(verbosity=2)
