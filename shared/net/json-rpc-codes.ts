/** The error codes of JSON-RPC 2.0 §5.1. */

/** The body is not JSON. */
export const PARSE_ERROR = -32_700;
/** The JSON is not a valid request. */
export const INVALID_REQUEST = -32_600;
export const METHOD_NOT_FOUND = -32_601;
