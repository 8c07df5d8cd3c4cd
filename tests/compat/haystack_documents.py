"""The test of a component that embeds documents for Haystack, whoever made the component."""
from haystack import Document


class DocumentEmbedding:
    """Beside TextClientTest. A test sets `component`, and made() makes one of it."""

    component = None
    wishes = {}
    usage = {"prompt_tokens": 12, "total_tokens": 12}  # None: the component does not tell

    def test_documents_in_several_requests(self):
        texts = ["a b", "c", "d e f"]
        embedder = self.made(self.component, batch_size=2, progress_bar=False,
                             **self.wishes)
        answer = embedder.run([Document(content=text) for text in texts])
        for document, text in zip(answer["documents"], texts, strict=True):
            self.assertEqual(document.content, text)
            self.check_vector(document.embedding, text)
        self.assertEqual(answer.get("meta", {}).get("usage"), self.usage)
