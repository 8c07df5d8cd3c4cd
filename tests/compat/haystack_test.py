"""Haystack's components as they are: for OpenAI's API, and for text-embeddings-inference."""
import unittest

import text_clients

text_clients.need("haystack_integrations.components.embedders.huggingface_api")
import openai  # noqa: E402
from haystack import Document  # noqa: E402
from haystack.components.embedders import OpenAIDocumentEmbedder, OpenAITextEmbedder  # noqa: E402
from haystack.utils import Secret  # noqa: E402
from haystack_documents import DocumentEmbedding  # noqa: E402
from haystack_integrations.components.embedders.huggingface_api import (  # noqa: E402
    HuggingFaceAPIDocumentEmbedder, HuggingFaceAPITextEmbedder)
from haystack_integrations.components.rankers.huggingface_api import (  # noqa: E402
    HuggingFaceTEIRanker)
from text_clients import numbers_of, tokens_of  # noqa: E402


class OpenAi(DocumentEmbedding, text_clients.TextClientTest):
    component = OpenAIDocumentEmbedder

    def made(self, component, **more):
        return component(**{"api_key": Secret.from_token("none"), "model": "e",
                            "api_base_url": f"{self.url}/v1", "max_retries": 0, **more})

    def test_a_text(self):
        answer = self.made(OpenAITextEmbedder).run("a b")
        self.check_vector(answer["embedding"], "a b")
        self.assertEqual(answer["meta"],
                         {"model": "e", "usage": {"prompt_tokens": 4, "total_tokens": 4}})

    def test_a_text_between_others(self):
        answer = self.made(OpenAITextEmbedder, prefix="c ", suffix=" d", dimensions=3).run("a")
        self.check_vector(answer["embedding"], "c a d", dimensions=3)

    def test_an_unknown_model(self):
        with self.assertRaises(openai.NotFoundError) as caught:
            self.made(OpenAITextEmbedder, model="x").run("a")
        self.assertEqual(caught.exception.code, "model_not_found")


class Tei(DocumentEmbedding, text_clients.TextClientTest):
    """Its requests name no model, and go to the URL as it is given: `POST /`."""

    models = ("e",)
    component = HuggingFaceAPIDocumentEmbedder
    wishes = {"normalize": True}
    usage = None

    def made(self, component, **more):
        return component(api_type="text_embeddings_inference", api_params={"url": self.url},
                         token=None, **more)

    def test_a_text(self):
        answer = self.made(HuggingFaceAPITextEmbedder).run("a b")
        self.check_close(answer["embedding"], numbers_of(tokens_of("a b")))

    def test_a_text_of_length_one(self):
        answer = self.made(HuggingFaceAPITextEmbedder, normalize=True).run("a b")
        self.check_vector(answer["embedding"], "a b")

    def test_long_texts_are_cut_unless_it_says_otherwise(self):
        answer = self.made(HuggingFaceAPITextEmbedder, normalize=True).run("a b c d e f")
        self.check_vector(answer["embedding"], "a b c d")
        with self.assertRaisesRegex(Exception, "413"):
            self.made(HuggingFaceAPITextEmbedder, truncate=False).run("a b c d e f")


class TeiRanker(text_clients.TextClientTest):
    models = ("r",)

    def test_a_ranking(self):
        texts = ["b", "f", "c"]
        ranker = HuggingFaceTEIRanker(url=self.url, top_k=2, token=None)
        answer = ranker.run(query="a", documents=[Document(content=text) for text in texts])
        self.assertEqual([(document.content, document.score) for document in answer["documents"]],
                         [(texts[index], score) for index, score in self.ranking("a", texts, 2)])


if __name__ == "__main__":
    unittest.main(verbosity=2)
