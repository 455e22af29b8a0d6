"""Private addresses are refused in every disguise; allowed networks are let through."""

import pytest

from treasure.addresses import AddressPolicy, ForbiddenAddressError
from treasure.errors import ConfigError
from treasure.fetch import FetchError, fetch_page


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "10.0.0.1", "192.168.1.1", "169.254.169.254", "0.0.0.0", "100.64.0.1",
     "224.0.0.1", "::1", "::ffff:127.0.0.1", "fe80::1%eth0", "fd00::1", "64:ff9b::7f00:1",
     "2002:7f00:1::", "rubbish"],
)  # fmt: skip
def test_no_way_in(address):
    assert not AddressPolicy().allows(address)
    with pytest.raises(ForbiddenAddressError, match="TREASURE_ALLOWED_NETWORKS"):
        AddressPolicy().check("host.test", address)


@pytest.mark.parametrize("address", ["93.184.216.34", "2606:2800:220:1::1"])
def test_public_addresses_are_fine(address):
    assert AddressPolicy().allows(address)


def test_an_allowed_network_opens_only_itself():
    policy = AddressPolicy(["127.0.0.0/8", "fd00::/8"])
    assert policy.allows("127.1.2.3")
    assert policy.allows("fd12::1")
    assert not policy.allows("10.0.0.1")


def test_a_wrong_network_is_named():
    with pytest.raises(ConfigError, match="'10.0.0.0/99' is no network"):
        AddressPolicy(["10.0.0.0/99"])


def test_a_single_fetch_keeps_to_the_policy():
    with pytest.raises(FetchError, match="no public address"):
        fetch_page("http://127.0.0.1:9/")
