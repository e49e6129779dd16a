/*
 * The neutral table model: what every format turns into and what every query
 * needs.  Gathers the headers of this folder.
 */
#ifndef LAKE_TABLE_H
#define LAKE_TABLE_H

#include "table/batch.h"
#include "table/changes.h"
#include "table/file_sink.h"
#include "table/format.h"
#include "table/predicate.h"
#include "table/row_store.h"
#include "table/task.h"
#include "table/task_reader.h"
#include "table/transform.h"
#include "table/type.h"
#include "table/value.h"

#endif							/* LAKE_TABLE_H */
