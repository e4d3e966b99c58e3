/** One row of a query's result, for both databases: the values of the columns, in order. Their types are unknown. */
export type SqlRow = readonly unknown[];
