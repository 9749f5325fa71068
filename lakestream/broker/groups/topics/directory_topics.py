"""Topic images for groups from the broker's topic directory: one image per version, made on first use."""

from lakestream.broker.directory import Directory
from lakestream.broker.groups.topics.topics import NO_TOPICS, TopicImage, TopicsImage


class DirectoryTopics:
    def __init__(self, directory: Directory) -> None:
        self._directory = directory
        self._image = NO_TOPICS

    def image(self) -> TopicsImage:
        version = self._directory.version
        if self._image.version != version:
            topics = [entry.topic for entry in self._directory.all()]
            self._image = TopicsImage(version, (TopicImage(one.id, one.name, len(one.partitions)) for one in topics))
        return self._image

    async def refresh(self) -> None:
        await self._directory.refresh()
