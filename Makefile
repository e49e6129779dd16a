# lakefdw: lake tables as foreign tables of PostgreSQL
#
#   make demo        installs what is missing, builds, and shows a guided tour
#   make test        the same for every test; ends with "N passed, N failed"
#   make, make install, make installcheck, make clean   as of any extension
#
# DEVELOPING.md has the others.  The core half (CORE_FOLDERS) is compiled
# without PostgreSQL's include path: that is the boundary, and the compiler
# checks it.

EXTENSION = lakefdw
EXTENSION_VERSION := $(shell sed -n "s/^default_version = '\(.*\)'/\1/p" lakefdw.control)
PG_CONFIG ?= pg_config
BUILD ?= build

CORE_FOLDERS = base io codec avro parquet table iceberg metastore
SERVER_FOLDERS = server fdw functions

CORE_SOURCES := $(sort $(wildcard $(CORE_FOLDERS:%=src/%/*.c)))
STOP_SOURCE = src/fdw/stop_point.c
SERVER_SOURCES := $(filter-out $(STOP_SOURCE), \
	$(sort $(wildcard $(SERVER_FOLDERS:%=src/%/*.c))))
CORE_OBJECTS = $(CORE_SOURCES:src/%.c=$(BUILD)/core/%.o)
OBJS = $(SERVER_SOURCES:src/%.c=$(BUILD)/server/%.o)
CORE_LIBRARY = $(BUILD)/liblakecore.a
CORE_LIBS = -ljson-c -lzstd -llz4 -lsnappy -lbrotlidec -lbrotlienc -ldeflate -lz -lm

CORE_CFLAGS = -std=c11 -D_GNU_SOURCE -O2 -g -fPIC -Isrc -Wall -Wextra -Wshadow -Wconversion \
	-Wstrict-prototypes -Wmissing-prototypes -Wvla -Werror -MMD -MP \
	-DLAKE_VERSION='"$(EXTENSION_VERSION)"'
SERVER_CFLAGS = -Isrc -Wall -Wextra -Wno-unused-parameter -Wno-sign-compare \
	-Wno-missing-field-initializers -Werror -MMD -MP

# ---- the extension, by PGXS ----

MODULE_big = lakefdw
SHLIB_LINK = $(CORE_LIBRARY) $(CORE_LIBS) \
	-Wl,--version-script=src/lakefdw.map
# the extension's objects, part by part; an update brings the parts that the
# older version does not have
SQL_0_1 = foundation
SQL_0_2 = catalog time_travel inspection
SQL_0_3 = writing
SQL_PARTS = $(SQL_0_1) $(SQL_0_2) $(SQL_0_3)
DATA_built = $(BUILD)/lakefdw--$(EXTENSION_VERSION).sql \
	$(BUILD)/lakefdw--0.1.0.sql $(BUILD)/lakefdw--0.2.0.sql \
	$(BUILD)/lakefdw--0.1.0--0.2.0.sql $(BUILD)/lakefdw--0.2.0--0.3.0.sql
EXTRA_CLEAN = $(BUILD) $(STOP_LIBRARY) build-asan build-fuzz results

# make STOP_POINTS=1 [install]: beside the rest, a library that tests can hold
# at places that they name, and a version of the extension that is made of it
STOP_LIBRARY = lakefdw_stop$(DLSUFFIX)
STOP_OBJS = $(SERVER_SOURCES:src/%.c=$(BUILD)/stop/%.o) \
	$(STOP_SOURCE:src/%.c=$(BUILD)/stop/%.o)
STOP_DATA = $(BUILD)/stop/lakefdw--stop.sql $(BUILD)/stop/lakefdw--stop.control

# bitcode would need clang, and the scan's loops gain nothing from inlining
override with_llvm = no

# libpq-dev has a pg_config too, and a client's package PGXS: what counts are the
# files that it points to
PGXS := $(wildcard $(shell $(PG_CONFIG) --pgxs 2>/dev/null))
SERVER_HEADER := $(wildcard $(shell $(PG_CONFIG) --includedir-server 2>/dev/null)/postgres.h)
ifneq ($(and $(PGXS),$(SERVER_HEADER)),)
include $(PGXS)
all: $(BUILD)/parquet_digest
# a demo that was kept is known by a file that clean removes
clean: demo-stop
installcheck: check-regress
ifdef STOP_POINTS
all: $(STOP_LIBRARY) $(STOP_DATA)
install: install-stop
endif
install-stop: $(STOP_LIBRARY) $(STOP_DATA) installdirs
	$(INSTALL_SHLIB) $(STOP_LIBRARY) '$(DESTDIR)$(pkglibdir)/'
	$(INSTALL_DATA) $(STOP_DATA) '$(DESTDIR)$(datadir)/extension/'
uninstall: uninstall-stop
uninstall-stop:
	rm -f '$(DESTDIR)$(pkglibdir)/$(STOP_LIBRARY)' \
		$(STOP_DATA:$(BUILD)/stop/%='$(DESTDIR)$(datadir)/extension/%')
.PHONY: install-stop uninstall-stop
else
CC = gcc
all install installcheck uninstall:
	@echo "$(PG_CONFIG) or the server's development files are missing:" \
		"run 'make deps', or set PG_CONFIG" >&2; exit 1
clean: demo-stop
	rm -rf $(EXTRA_CLEAN)
endif

$(MODULE_big)$(DLSUFFIX): $(CORE_LIBRARY) src/lakefdw.map

$(BUILD)/server/%.o: src/%.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(CPPFLAGS) $(SERVER_CFLAGS) -fPIC -c $< -o $@

$(BUILD)/stop/%.o: src/%.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(CPPFLAGS) $(SERVER_CFLAGS) -DLAKE_STOP_POINTS -fPIC -c $< -o $@

$(STOP_LIBRARY): $(STOP_OBJS) $(CORE_LIBRARY) src/lakefdw.map
	$(CC) $(CFLAGS) -shared $(STOP_OBJS) $(LDFLAGS) $(SHLIB_LINK) -o $@

$(BUILD)/stop/lakefdw--stop.sql: $(BUILD)/lakefdw--$(EXTENSION_VERSION).sql
	@mkdir -p $(@D)
	cp $< $@
$(BUILD)/stop/lakefdw--stop.control: Makefile
	@mkdir -p $(@D)
	echo "module_pathname = '\$$libdir/lakefdw_stop'" >$@

$(BUILD)/lakefdw--$(EXTENSION_VERSION).sql: $(SQL_PARTS:%=sql/extension/%.sql)
$(BUILD)/lakefdw--0.1.0.sql: $(SQL_0_1:%=sql/extension/%.sql)
$(BUILD)/lakefdw--0.2.0.sql: $(SQL_0_1:%=sql/extension/%.sql) \
	$(SQL_0_2:%=sql/extension/%.sql)
$(BUILD)/lakefdw--0.1.0--0.2.0.sql: $(SQL_0_2:%=sql/extension/%.sql)
$(BUILD)/lakefdw--0.2.0--0.3.0.sql: $(SQL_0_3:%=sql/extension/%.sql)
$(DATA_built): Makefile lakefdw.control
	@mkdir -p $(@D)
	printf '%s\n' '-- complain if script is sourced in psql' \
		'\echo Use CREATE or ALTER EXTENSION lakefdw to load this file. \quit' >$@
	cat $(filter %.sql,$^) >>$@

# ---- the core half, and programs on it alone ----

.PHONY: core
core: $(CORE_LIBRARY)

$(BUILD)/core/%.o: src/%.c
	@mkdir -p $(@D)
	$(CC) $(CORE_CFLAGS) $(CFLAGS_EXTRA) -c $< -o $@

$(CORE_LIBRARY): $(CORE_OBJECTS)
	rm -f $@
	$(AR) rcs $@ $^

$(BUILD)/support/%.o: test/support/%.c
	@mkdir -p $(@D)
	$(CC) $(CORE_CFLAGS) $(CFLAGS_EXTRA) -Itest/support -c $< -o $@

$(BUILD)/parquet_digest: $(BUILD)/support/parquet_digest.o \
		$(BUILD)/support/seam_std.o $(CORE_LIBRARY)
	$(CC) $(CFLAGS_EXTRA) $^ $(CORE_LIBS) -lcrypto -o $@

# one unit test: make build/unit/test_json && build/unit/test_json
$(BUILD)/unit/%: test/unit/%.c $(BUILD)/support/seam_std.o $(CORE_LIBRARY)
	@mkdir -p $(@D)
	$(CC) $(CORE_CFLAGS) $(CFLAGS_EXTRA) -Itest/support $< \
		$(BUILD)/support/seam_std.o $(CORE_LIBRARY) $(CORE_LIBS) -o $@

# a harness with the replaying driver, for any compiler
$(BUILD)/fuzz/%: test/fuzz/%.c test/fuzz/driver.c $(BUILD)/support/seam_std.o \
		$(CORE_LIBRARY)
	@mkdir -p $(@D)
	$(CC) $(CORE_CFLAGS) -Wno-missing-prototypes $(CFLAGS_EXTRA) \
		-Itest/support $< test/fuzz/driver.c $(BUILD)/support/seam_std.o \
		$(CORE_LIBRARY) $(CORE_LIBS) -o $@

UNIT_TESTS := $(patsubst test/unit/%.c,%,$(sort $(wildcard test/unit/test_*.c)))
FUZZ_TESTS := $(patsubst test/fuzz/%.c,%,$(sort $(wildcard test/fuzz/fuzz_*.c)))
unit-tests: $(UNIT_TESTS:%=$(BUILD)/unit/%)
fuzz-tests: $(FUZZ_TESTS:%=$(BUILD)/fuzz/%)
.PHONY: unit-tests fuzz-tests

# ---- the two commands, and the suites they are made of ----

.PHONY: deps demo demo-stop test interop bench lint indent check-indent \
	typedefs fuzz check-unit check-fuzz check-regress check-corpus check-tap \
	check-isolation

deps:
	@test/support/deps.sh

demo: deps
	@test/demo/demo.sh

demo-stop:
	@test/demo/demo.sh stop

test: deps
	@test/support/run_tests.sh

# one suite alone, e.g. make check-regress
check-unit check-fuzz check-regress check-isolation check-tap check-corpus:
	@test/support/run_tests.sh $(@:check-%=%)

interop: deps
	@test/interop/run.sh

bench: deps
	@test/bench/run.sh

lint:
	@python3 test/lint/lint.py

indent:
	@python3 test/lint/indent.py
check-indent:
	@python3 test/lint/indent.py --check
typedefs:
	@python3 test/lint/indent.py --typedefs

# coverage-guided: make fuzz TARGET=avro SECONDS=600
fuzz:
	@test/fuzz/fuzz.sh $(TARGET) $(SECONDS)

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
