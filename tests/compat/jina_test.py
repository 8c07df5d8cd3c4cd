"""Jina's components for Haystack as they are, with the server's URLs in place of Jina's."""
import unittest

import text_clients

text_clients.need("haystack_integrations.components.rankers.jina")
from haystack import Document  # noqa: E402
from haystack.utils import Secret  # noqa: E402
from haystack_documents import DocumentEmbedding  # noqa: E402
from haystack_integrations.components.embedders.jina import (  # noqa: E402
    JinaDocumentEmbedder, JinaTextEmbedder)
from haystack_integrations.components.rankers.jina import JinaRanker  # noqa: E402

KEY = Secret.from_token("none")


class Jina(DocumentEmbedding, text_clients.TextClientTest):
    component = JinaDocumentEmbedder

    def made(self, component, **more):
        return component(api_key=KEY, model="e", base_url=f"{self.url}/v1/embeddings", **more)

    def ranker(self, **more):
        return JinaRanker(api_key=KEY, model="r", base_url=f"{self.url}/v1/rerank", **more)

    def test_a_text(self):
        answer = self.made(JinaTextEmbedder).run("a b")
        self.check_vector(answer["embedding"], "a b")
        self.assertEqual(answer["meta"],
                         {"model": "e", "usage": {"prompt_tokens": 4, "total_tokens": 4}})

    def test_what_only_jinas_models_know_is_passed_over(self):
        answer = self.made(JinaTextEmbedder, task="retrieval.query", late_chunking=False,
                           dimensions=3).run("a")
        self.check_vector(answer["embedding"], "a", dimensions=3)

    def test_a_ranking(self):
        texts = ["b", "f", "c", "f"]
        documents = [Document(content=text, id=str(i)) for i, text in enumerate(texts)]
        for top_k in (None, 2):
            answer = self.ranker(top_k=top_k).run("a", documents)
            self.assertEqual([(int(one.id), one.score) for one in answer["documents"]],
                             self.ranking("a", texts, top_k))
            self.assertEqual(answer["meta"]["usage"], {"prompt_tokens": 20, "total_tokens": 20})

    def test_an_error_has_the_servers_text(self):
        embedder = JinaTextEmbedder(api_key=KEY, model="x", base_url=f"{self.url}/v1/embeddings")
        with self.assertRaisesRegex(RuntimeError, "'x' is not found"):
            embedder.run("a")


if __name__ == "__main__":
    unittest.main(verbosity=2)
