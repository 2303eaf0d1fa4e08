"""Backups: a ledger copied as one consistent set while others write (``backup``), and put in place (``restore``).

``disk`` handles the disk and lists the files of a backup, ``making`` copies and proves, ``restoring`` proves again,
reports the possible losses and decides, ``replacing`` moves files so that no mixture is ever seen; ``proofs`` proves a
backup by a restore, and finds the newest one. ``server_copies`` copies a ledger between a server of PostgreSQL and
files, in the form of rows that ``server_rows`` defines; by ``local_copies`` a ledger on a server is proven and backed
up as one in files is.
"""

from ledger.backups.disk import CopiedFile, Manifest
from ledger.backups.local_copies import ledger_as_files
from ledger.backups.making import Backup, backup
from ledger.backups.moving import ServerMove, move_to_files, move_to_server
from ledger.backups.proofs import StoredBackup, backup_mark, is_head_of, newest_backup, prove_backup
from ledger.backups.restoring import Loss, Restored, restore
from ledger.backups.server_copies import LedgerContent, ServerCopy, copy_to_files, copy_to_server

__all__ = [
    "Backup",
    "CopiedFile",
    "LedgerContent",
    "Loss",
    "Manifest",
    "Restored",
    "ServerCopy",
    "ServerMove",
    "StoredBackup",
    "backup",
    "backup_mark",
    "copy_to_files",
    "copy_to_server",
    "is_head_of",
    "ledger_as_files",
    "move_to_files",
    "move_to_server",
    "newest_backup",
    "prove_backup",
    "restore",
]  # fmt: skip
