/*
 * Catalogs outside of PostgreSQL: the file catalog now, REST later.
 */
#ifndef LAKE_METASTORE_H
#define LAKE_METASTORE_H

#include "io/io.h"

/* directories that one listing looks into */
#define FILE_CATALOG_MAX_DIRECTORIES 100000

/* a namespace is "a.b": levels joined by dots */
typedef struct CatalogTable
{
	const char *name_space;
	const char *name;			/* directory name */
	const char *other_format;	/* "Delta", "Hudi"; NULL: Iceberg */
} CatalogTable;

/*
 * The location of the newest metadata file of warehouse/ns/…/table (Hadoop
 * layout and its relatives): version-hint.text as far as it can be believed,
 * then the highest vN.metadata.json (all three gzip spellings) or
 * NNNNN-uuid.metadata.json.  NULL when there is no such table.  Throws
 * UNSUPPORTED when the directory is a Delta or Hudi table.
 */
extern const char *file_catalog_find(LakeArena *arena, LakeStore *store,
									 const char *warehouse,
									 const char *name_space,
									 const char *table);

/* the same for a table's own directory */
extern const char *file_catalog_find_metadata(LakeArena *arena,
											  LakeStore *store,
											  const char *table_location);

/*
 * Tables of one namespace, sorted by name, Delta and Hudi tables among them;
 * false when the namespace does not exist.  name_space NULL: of all namespaces,
 * each after the ones that contain it.  Throws LIMIT when those are more
 * directories than FILE_CATALOG_MAX_DIRECTORIES.
 */
extern bool file_catalog_list(LakeArena *arena, LakeStore *store,
							  const char *warehouse, const char *name_space,
							  CatalogTable **tables, size_t *count);

#endif							/* LAKE_METASTORE_H */
