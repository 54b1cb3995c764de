"""One record for each response, and the steps taken for it: judge, record, label, learn. No Scrapy."""
