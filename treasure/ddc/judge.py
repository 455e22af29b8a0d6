"""Judge: on topic or not, once per page. (Contract; see the class.)"""
