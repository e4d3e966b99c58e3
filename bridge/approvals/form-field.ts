interface TitleAndDescription {
  title?: string;
  description?: string;
}

export type TextField = TitleAndDescription & { type: 'string'; default?: string } & (
    | { enum: string[]; enumNames?: string[] }
    | { minLength?: number; maxLength?: number; format?: 'email' | 'uri' | 'date' | 'date-time' }
  );

/** A form field. MCP allows primitive types and lists of choices (MCP 2025-11-25, `PrimitiveSchemaDefinition`). */
export type FormField = TitleAndDescription &
  (
    | TextField
    | { type: 'number' | 'integer'; minimum?: number; maximum?: number; default?: number }
    | { type: 'boolean'; default?: boolean }
    | {
        type: 'array';
        items: { type: 'string'; enum: string[] };
        minItems?: number;
        maxItems?: number;
      }
  );

/** A type alias, because the SDK's type for objects accepts no interface here. */
export type FormFields = {
  properties: Record<string, FormField>;
  required?: string[];
};

/** The parameters of `elicitation/create`. */
export interface Form {
  mode: 'form';
  message: string;
  requestedSchema: { type: 'object' } & FormFields;
}

/** The parameters of `elicitation/create` that open a URL (MCP 2026-07-28, "URL Mode Elicitation Requests"). */
export interface UrlForm {
  mode: 'url';
  message: string;
  url: string;
}
