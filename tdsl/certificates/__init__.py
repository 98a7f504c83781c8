"""Certificates: proofs written as JSON, and the stand-alone program that checks them."""
