# lakefdw: lake tables as foreign tables of PostgreSQL

BUILD = build
CORE_FOLDERS = base io codec avro parquet table iceberg metastore
CORE_SOURCES = $(wildcard $(CORE_FOLDERS:%=src/%/*.c))
CORE_OBJECTS = $(CORE_SOURCES:src/%.c=$(BUILD)/core/%.o)

CC = gcc
CORE_CFLAGS = -std=c11 -D_GNU_SOURCE -O2 -g -fPIC -Isrc -Wall -Wextra -Wshadow -Wconversion \
	-Wstrict-prototypes -Wmissing-prototypes -Wvla -Werror -MMD -MP
CORE_LIBS = -ljson-c -lzstd -llz4 -lsnappy -lbrotlidec -ldeflate -lz -lm

.PHONY: core clean
core: $(BUILD)/liblakecore.a

$(BUILD)/core/%.o: src/%.c
	@mkdir -p $(@D)
	$(CC) $(CORE_CFLAGS) $(CFLAGS_EXTRA) -c $< -o $@

$(BUILD)/liblakecore.a: $(CORE_OBJECTS)
	rm -f $@
	$(AR) rcs $@ $^

$(BUILD)/support/%.o: test/support/%.c
	@mkdir -p $(@D)
	$(CC) $(CORE_CFLAGS) $(CFLAGS_EXTRA) -Itest/support -c $< -o $@

# one unit test: make build/unit/test_bytes && build/unit/test_bytes
$(BUILD)/unit/%: test/unit/%.c $(BUILD)/support/seam_std.o $(BUILD)/liblakecore.a
	@mkdir -p $(@D)
	$(CC) $(CORE_CFLAGS) $(CFLAGS_EXTRA) -Itest/support $< \
		$(BUILD)/support/seam_std.o $(BUILD)/liblakecore.a $(CORE_LIBS) -o $@

clean:
	rm -rf $(BUILD)

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
