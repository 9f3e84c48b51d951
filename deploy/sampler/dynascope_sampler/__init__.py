"""Writes a sampled log of an application's DynamoDB requests, from inside the application."""
