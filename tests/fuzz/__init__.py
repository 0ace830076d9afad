"""Hostile input by the thousand: generators, the rules that must hold, and what once broke them.

A generator draws cases that are plain Python literals, so that every case can be printed, kept in the folder
`corpus` and read back. The ordinary tests run a fixed, small number of cases; `make fuzz` runs new ones.
"""
