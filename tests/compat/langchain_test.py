"""LangChain's OpenAIEmbeddings as it is."""
import asyncio
import importlib.util
import os
import pathlib
import unittest

import text_clients

text_clients.need("langchain_openai")
# The vocabulary of OpenAI's models, which tiktoken would download; LlamaIndex brings it along.
(LLAMA_INDEX,) = importlib.util.find_spec("llama_index.core").submodule_search_locations
os.environ["TIKTOKEN_CACHE_DIR"] = str(pathlib.Path(LLAMA_INDEX) / "_static/tiktoken_cache")

import openai  # noqa: E402
from langchain_openai import OpenAIEmbeddings  # noqa: E402
from text_clients import numbers_of, unit  # noqa: E402


class LangChain(text_clients.TextClientTest):
    def embeddings(self, **more):
        return OpenAIEmbeddings(**{"model": "e", "base_url": f"{self.url}/v1", "api_key": "none",
                                   "check_embedding_ctx_length": False, "max_retries": 0, **more})

    def test_a_query(self):
        self.check_vector(self.embeddings().embed_query("a b"), "a b")

    def test_documents_in_several_requests(self):
        before = self.daemon.metric("mpsd_text_tokens_total", model="e")
        texts = ["a b", "", "c", "d e f", "c"]
        vectors = self.embeddings(chunk_size=2).embed_documents(texts)
        # Each text counts, "c" twice.
        counted = self.daemon.metric("mpsd_text_tokens_total", model="e") - before
        self.assertEqual(counted, 4 + 2 + 3 + 5 + 3)
        self.assertEqual(len(vectors), len(texts))
        for vector, text in zip(vectors, texts):
            self.check_vector(vector, text)

    def test_dimensions(self):
        self.check_vector(self.embeddings(dimensions=3).embed_query("a"), "a", dimensions=3)

    def test_asyncio(self):
        vectors = asyncio.run(self.embeddings().aembed_documents(["a", "b c"]))
        for vector, text in zip(vectors, ["a", "b c"], strict=True):
            self.check_vector(vector, text)

    def test_an_unknown_model(self):
        with self.assertRaises(openai.NotFoundError) as caught:
            self.embeddings(model="x").embed_query("a")
        self.assertEqual(caught.exception.code, "model_not_found")

    # By default it sends tokens of OpenAI's vocabulary, and mpsd takes them as the model's.

    def test_the_default_gives_the_vectors_of_other_tokens(self):
        vector = self.embeddings(check_embedding_ctx_length=True).embed_query("!+")
        self.check_close(vector, unit(numbers_of([0, 10])))  # "!" and "+" there, [PAD] and g here

    def test_the_default_fails_where_the_model_has_no_such_token(self):
        with self.assertRaises(openai.BadRequestError) as caught:
            self.embeddings(check_embedding_ctx_length=True).embed_documents(["a b"])
        self.assertEqual(caught.exception.type, "invalid_request_error")
        self.assertIn("64", caught.exception.message)  # the id of "a" there


if __name__ == "__main__":
    unittest.main(verbosity=2)
