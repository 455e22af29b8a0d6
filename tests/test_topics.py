from treasure.topics import Topic, merge


def test_a_topics_text_has_its_name_three_times():
    topic = Topic("bees", "Honey bees.", keywords=("hive",))
    assert topic.text == "bees bees bees hive Honey bees."


def test_merging_keeps_everything_once():
    one = Topic("bees", "Of bees.", numbers=("638",), keywords=("hive", "honey"))
    other = Topic("honey", "Of honey.", numbers=("638", "641.3"), keywords=("honey",))
    both = merge([one, other])
    assert both.name == "bees, honey"
    assert both.numbers == ("638", "641.3")
    assert both.keywords == ("hive", "honey")
    assert merge([one]) is one
