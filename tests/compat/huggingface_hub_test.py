"""huggingface_hub's InferenceClient as it is, with the URL of a route of text-embeddings-inference."""
import asyncio
import unittest

import text_clients

text_clients.need("huggingface_hub")
from huggingface_hub import AsyncInferenceClient, InferenceClient  # noqa: E402
from huggingface_hub.errors import HfHubHTTPError  # noqa: E402
from text_clients import numbers_of, tokens_of, unit  # noqa: E402


class FeatureExtraction(text_clients.TextClientTest):
    """Its requests name no model."""

    models = ("e",)

    def setUp(self):
        self.client = InferenceClient(f"{self.url}/embed")

    def test_a_text(self):
        (vector,) = self.client.feature_extraction("a b")
        self.check_vector(vector, "a b")

    def test_texts(self):
        texts = ["a b", "c", "d e f"]
        for vector, text in zip(self.client.feature_extraction(texts), texts, strict=True):
            self.check_vector(vector, text)

    def test_the_models_own_length(self):
        (vector,) = self.client.feature_extraction("a b", normalize=False)
        self.assertEqual(list(vector), numbers_of(tokens_of("a b")))

    def test_dimensions(self):
        (vector,) = self.client.feature_extraction("a", dimensions=3)
        self.check_close(vector, unit(numbers_of(tokens_of("a"))[:3]))

    def test_long_texts(self):
        (vector,) = self.client.feature_extraction("a b c d e f", truncate=True,
                                                   truncation_direction="left")
        self.check_vector(vector, "c d e f")
        with self.assertRaises(HfHubHTTPError) as caught:
            self.client.feature_extraction("a b c d e f", truncate=False)
        self.assertEqual(caught.exception.response.status_code, 413)
        self.assertIn("it has 8 tokens, but at most 6 are served", str(caught.exception))

    def test_a_wrong_request(self):
        with self.assertRaises(HfHubHTTPError) as caught:
            self.client.feature_extraction("a", prompt_name="query")
        self.assertEqual(caught.exception.response.status_code, 422)
        self.assertIn("prompt_name", str(caught.exception))

    def test_asyncio(self):
        async def ask():
            async with AsyncInferenceClient(f"{self.url}/embed") as client:
                return await client.feature_extraction(["a", "b c"])
        for vector, text in zip(asyncio.run(ask()), ["a", "b c"], strict=True):
            self.check_vector(vector, text)

    def test_the_url_of_the_server(self):
        (vector,) = InferenceClient(self.url).feature_extraction("a b")  # POST /
        self.check_vector(vector, "a b")


if __name__ == "__main__":
    unittest.main(verbosity=2)
