"""Backups: a ledger copied as one consistent set while others write (``backup``), and put in place (``restore``).

``making`` copies and proves, ``manifest`` says what belongs to a backup, ``restoring`` proves again and decides,
``comparing`` tells what would be lost, ``replacing`` moves files so that no mixture is ever seen, ``files`` knows the
disk.
"""

from ledger.backups.disk import CopiedFile, Manifest
from ledger.backups.making import Backup, backup
from ledger.backups.restoring import Loss, Restored, restore

__all__ = ["Backup", "CopiedFile", "Loss", "Manifest", "Restored", "backup", "restore"]
