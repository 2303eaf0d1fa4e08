"""Transcripts of READMEs run dozens of commands; those of the first README, and the texts themselves, are quick."""

TIER = "slow"
