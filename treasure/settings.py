"""Scrapy settings of the project. The add-on brings the components; see addon.py for their order.

Your own settings go to a file of yours, the command line (``-s``) or the environment; every
``TREASURE_*`` setting is listed in docs/settings.md.
"""

from treasure import __version__

BOT_NAME = "treasure"
SPIDER_MODULES = ["treasure.spiders"]
NEWSPIDER_MODULE = "treasure.spiders"
COMMANDS_MODULE = "treasure.commands"
ADDONS = {"treasure.addon.TreasureAddon": 500}

USER_AGENT = f"treasure/{__version__}"
"""The contact (TREASURE_CONTACT) is added to it."""
ROBOTSTXT_OBEY = True
LOG_LEVEL = "INFO"
