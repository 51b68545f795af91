/* SPDX-License-Identifier: BSD-3-Clause */
#include "ethdev/memif_offer.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void
roce_memif_offer_init(struct roce_memif_offer *offer)
{
	memset(offer, 0, sizeof(*offer));
	for (unsigned int way = 0; way < ROCE_MEMIF_WAYS; way++)
		for (unsigned int i = 0; i < ROCE_ENGINES_MAX; i++)
			offer->ring[way][i].fd = -1;
}

void
roce_memif_offer_fini(struct roce_memif_offer *offer)
{
	for (uint32_t i = 0; i < offer->regions; i++)
		roce_memif_close_passed(offer->region[i].fd);
	for (unsigned int way = 0; way < ROCE_MEMIF_WAYS; way++)
		for (unsigned int i = 0; i < ROCE_ENGINES_MAX; i++)
			if (offer->ring[way][i].fd >= 0)
				roce_memif_close_passed(offer->ring[way][i].fd);
	roce_memif_offer_init(offer);
}

static const char *
take_init(struct roce_memif_offer *offer, const struct roce_memif_msg *msg, int passed)
{
	if (offer->begun)
		return "Unexpected message";
	if (passed >= 0)
		return "INIT with a descriptor";
	if (msg->init.version != ROCE_MEMIF_VERSION)
		return "Incompatible memif version";
	if (msg->init.mode != 0)
		return "Only ethernet mode supported";
	offer->init = msg->init;
	offer->begun = true;
	return NULL;
}

static const char *
take_region(struct roce_memif_offer *offer, const struct roce_memif_msg *msg, int passed)
{
	if (passed < 0)
		return "Missing region fd";
	if (msg->add_region.index != offer->regions || offer->regions == ROCE_MEMIF_REGIONS_MAX)
		return "Invalid region index";
	offer->region[offer->regions++] = (struct roce_memif_region){
		.fd = passed,
		.size = msg->add_region.size,
	};
	return NULL;
}

static const char *
take_ring(struct roce_memif_offer *offer, const struct roce_memif_msg *msg, int passed)
{
	bool c2s = (msg->add_ring.flags & ROCE_MEMIF_RING_C2S) != 0;
	struct roce_memif_ring *ring = offer->ring[c2s ? ROCE_MEMIF_C2S : ROCE_MEMIF_S2C];

	if (passed < 0)
		return "Missing interrupt fd";
	if (msg->add_ring.index >= ROCE_ENGINES_MAX || ring[msg->add_ring.index].fd >= 0)
		return "Invalid ring index";
	ring += msg->add_ring.index;
	ring->fd = passed;
	ring->added = msg->add_ring;
	return NULL;
}

int
roce_memif_offer_take(struct roce_memif_offer *offer, const struct roce_memif_msg *msg, int passed,
		const char **words)
{
	bool kept = false;
	int rc = 0;

	*words = "Unexpected message";
	if (msg->type == ROCE_MEMIF_INIT) {
		*words = take_init(offer, msg, passed);
	} else if (offer->begun && msg->type == ROCE_MEMIF_ADD_REGION) {
		*words = take_region(offer, msg, passed);
		kept = *words == NULL;
	} else if (offer->begun && msg->type == ROCE_MEMIF_ADD_RING) {
		*words = take_ring(offer, msg, passed);
		kept = *words == NULL;
	} else if (offer->begun && msg->type == ROCE_MEMIF_CONNECT) {
		memcpy(offer->if_name, msg->if_name, sizeof(offer->if_name));
		*words = NULL;
		rc = 1;
	}
	if (passed >= 0 && !kept)
		roce_memif_close_passed(passed);
	return *words == NULL ? rc : -EPROTO;
}

/* The file holds all of it, and nobody can make it shorter below a mapping, which would end the process. */
static const char *
check_region(const struct roce_memif_region *region)
{
	struct stat st;
	int seals;

	/* First, since no other file system has seals: fstat(2) may wait for a file of FUSE. */
	seals = fcntl(region->fd, F_GET_SEALS);
	if (seals < 0 || fstat(region->fd, &st) != 0 || !S_ISREG(st.st_mode))
		return "A region is no file that can be sealed";
	if (region->size == 0 || st.st_size < 0 || region->size > (uint64_t)st.st_size)
		return "A region is larger than its file";
	if ((seals & F_SEAL_SHRINK) == 0)
		return "A region is not sealed against shrinking";
	if ((fcntl(region->fd, F_GETFL) & O_ACCMODE) != O_RDWR)
		return "A region cannot be written to";
	return NULL;
}

/* The driver writes to it in a burst, so that must never wait. */
static const char *
check_interrupt(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (!roce_memif_is_anonymous(fd))
		return "An interrupt fd is no eventfd";
	if (flags < 0 || (flags & O_NONBLOCK) == 0)
		return "An interrupt fd may block";
	return NULL;
}

static const char *
check_ring(const struct roce_memif_offer *offer, const struct roce_memif_ring *ring)
{
	const struct roce_memif_add_ring *added = &ring->added;
	const struct roce_memif_region *region;
	uint64_t len;
	uint32_t cookie;

	if (added->region >= offer->regions)
		return "A ring is in no region";
	if (added->log2_ring_size > ROCE_MEMIF_LOG2_RING_MAX)
		return "A ring is too large";
	region = &offer->region[added->region];
	len = ROCE_MEMIF_RING_HEADER + (UINT64_C(1) << added->log2_ring_size) * ROCE_MEMIF_DESC;
	if (added->offset % ROCE_MEMIF_DESC != 0 || added->offset + len > region->size)
		return "A ring is not inside its region";
	if (pread(region->fd, &cookie, sizeof(cookie), (off_t)added->offset) != sizeof(cookie) ||
			cookie != ROCE_MEMIF_COOKIE)
		return "A ring has no cookie";
	return check_interrupt(ring->fd);
}

int
roce_memif_offer_check(const struct roce_memif_offer *offer, uint32_t queues, const char **words)
{
	*words = NULL;
	for (uint32_t i = 0; i < offer->regions && *words == NULL; i++)
		*words = check_region(&offer->region[i]);
	for (unsigned int way = 0; way < ROCE_MEMIF_WAYS; way++) {
		for (uint32_t i = 0; i < ROCE_ENGINES_MAX && *words == NULL; i++) {
			const struct roce_memif_ring *ring = &offer->ring[way][i];

			if ((ring->fd >= 0) != (i < queues))
				*words = "As many rings as queues= are wanted each way";
			else if (ring->fd >= 0)
				*words = check_ring(offer, ring);
		}
	}
	return *words == NULL ? 0 : -EPROTO;
}
