/**
 * Checks the types of request parameters before the SDK's codec reads them. The codec converts values of wrong types:
 * `["approve"]` becomes the text "approve", and `"false"` becomes true. D1: a malformed decision must not approve
 * anything.
 *
 * Sources: a2a.proto of A2A 1.0 (`field_behavior`, `oneof`), ProtoJSON, and the JSON schema of A2A 0.3. The schemas
 * ignore unknown fields (A2A 1.0 §5.7).
 */
import { TaskState } from '@a2a-js/sdk';
import { z } from 'zod';
import { lazily } from '../../../shared/runtime/lazily.ts';
import { isRecord } from '../../../shared/runtime/record.ts';
import { validateRequestInput } from './validate-request-input.ts';

/** Returns the schema of an object of a2a.proto. ProtoJSON: a parser also accepts the field names of the proto file. */
function protoObjectSchema<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.preprocess(inCamelCase, z.looseObject(shape));
}

function inCamelCase(value: unknown): unknown {
  if (!isRecord(value)) return value;
  const named = Object.entries(value).map(([name, it]): [string, unknown] => [camelCase(name), it]);
  // If an object has both names, the camel case name wins.
  return { ...Object.fromEntries(named), ...value };
}

function camelCase(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/**
 * Returns the schema of an A2A 0.3 object. Fields that are null are removed, because the SDK treats null as a value.
 */
function legacyFields<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.preprocess(withoutNulls, z.looseObject(shape));
}

function withoutNulls(value: unknown): unknown {
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([, it]) => it !== null));
}

/**
 * Renames the field `request` to `message`. In a2a.proto of A2A 0.3, the field `request` has the JSON name `message`.
 * ProtoJSON: a parser accepts both names.
 */
function withMessage(value: unknown): unknown {
  if (!isRecord(value) || !Object.hasOwn(value, 'request')) return value;
  const { request, ...rest } = value;
  return { message: request, ...rest };
}

/**
 * Takes the configuration out of the field `config`. A2A 0.3 §7.5: the body has this field. In a2a.proto, `body:
 * "config"` means that the body is the configuration itself. Clients send both forms.
 */
function withoutConfigField(value: unknown): unknown {
  return isRecord(value) && isRecord(value['config']) ? value['config'] : value;
}

/** Builds the schemas at the first request. Building 300 schemas takes time, and a start of the server needs none. */
const requestSchemas = lazily(() => {
  // ProtoJSON: null is the same as an absent field.
  const text = z.string().nullish();
  /** The schema of bytes. ProtoJSON: standard or URL-safe base64, with or without padding. */
  const base64 = z
    .string()
    .regex(/^[\w+/-]*={0,2}$/, 'expected base64')
    .nullish();
  /** The schema of a text that a header can contain. */
  const headerText = z
    .string()
    .regex(/^[\t\x20-\x7e]{0,4000}$/, 'expected at most 4,000 characters of ASCII');
  const texts = z.array(z.string()).nullish();
  const struct = z.record(z.string(), z.unknown()).nullish();
  const flag = z.boolean().nullish();
  /** The schema of an int32. ProtoJSON: an int32 is a number, or a string of digits. */
  const count = z.union([z.int(), z.string().regex(/^\d+$/).transform(Number)]).pipe(z.int32().min(0));

  const taskId = z.string().min(1);
  const messageId = z.string().min(1).max(200);
  const optionalId = z.string().max(200).nullish();
  const TASK = { id: taskId, metadata: struct };

  const scheme = z.string().regex(/^[!#$%&'*+.^_`|~\w-]{1,100}$/, 'expected an authentication scheme');

  const ADDRESS = {
    id: z.string().max(200).nullish(),
    url: z.string().min(1),
    // The token and the credentials go into headers of a notification (RFC 9110 §5.5).
    token: headerText.nullish(),
  };
  const PUSH = {
    ...ADDRESS,
    authentication: protoObjectSchema({ scheme, credentials: headerText.nullish() }).nullish(),
  };

  /**
   * The authentication of a push notification. A2A 0.3 §6.9: a client may name several schemes. The server uses the
   * first.
   */
  const LEGACY_AUTHENTICATION = {
    schemes: z.array(scheme).transform((schemes) => schemes.slice(0, 1)),
    credentials: headerText.nullish(),
  };

  const configuration = protoObjectSchema({
    taskPushNotificationConfig: protoObjectSchema(PUSH).nullish(),
    acceptedOutputModes: texts,
    historyLength: count.nullish(),
    returnImmediately: flag,
  }).nullish();

  const MESSAGE = {
    messageId,
    contextId: optionalId,
    taskId: optionalId,
    metadata: struct,
    extensions: texts,
    referenceTaskIds: texts,
  };

  /** The fields for the content of a part. A part has exactly one of them. `{"data": null}` also counts as content. */
  const CONTENTS = ['text', 'raw', 'url'] as const;

  const part = protoObjectSchema({
    text,
    raw: base64,
    url: text,
    filename: text,
    mediaType: text,
    metadata: struct,
  }).refine(
    (it) =>
      CONTENTS.filter((name) => typeof it[name] === 'string').length + Number(Object.hasOwn(it, 'data')) ===
      1,
    'a part has exactly one of text, data, raw and url',
  );

  const send = protoObjectSchema({
    message: protoObjectSchema({ ...MESSAGE, role: z.literal('ROLE_USER'), parts: z.array(part).min(1) }),
    configuration,
    metadata: struct,
  });

  const stateNames = Object.keys(TaskState).filter((name) => name.startsWith('TASK_STATE_'));

  const LIST = {
    contextId: optionalId,
    status: z.enum(stateNames).nullish(),
    pageSize: count.pipe(z.int().min(1).max(100)).nullish(),
    pageToken: z.string().max(2000).nullish(),
    historyLength: count.nullish(),
    statusTimestampAfter: z.iso.datetime({ offset: true }).nullish(),
    includeArtifacts: flag,
  };

  const legacyFile = legacyFields({ bytes: base64, uri: text, name: text, mimeType: text }).refine(
    ({ bytes, uri }) => (bytes === undefined) !== (uri === undefined),
    'a file has either bytes or a uri',
  );

  /** The schema of a part of A2A 0.3. Its `kind` names its content. */
  const legacyPart = z.preprocess(
    withoutNulls,
    z.discriminatedUnion('kind', [
      z.looseObject({ kind: z.literal('text'), text: z.string(), metadata: struct }),
      z.looseObject({ kind: z.literal('data'), data: z.record(z.string(), z.unknown()), metadata: struct }),
      z.looseObject({ kind: z.literal('file'), file: legacyFile, metadata: struct }),
    ]),
  );

  const legacyPush = legacyFields({
    ...ADDRESS,
    authentication: legacyFields(LEGACY_AUTHENTICATION).optional(),
  });

  const legacySend = legacyFields({
    message: legacyFields({ ...MESSAGE, role: z.literal('user'), parts: z.array(legacyPart).min(1) }),
    configuration: legacyFields({
      acceptedOutputModes: texts,
      historyLength: count.nullish(),
      blocking: flag,
      pushNotificationConfig: legacyPush.optional(),
    }).optional(),
    metadata: struct,
  });
  const legacyTask = legacyFields({ ...TASK, historyLength: count.nullish() });

  /**
   * The fields for the content of a part in A2A 0.3 over HTTP+JSON, which uses the names of its proto file. The parts of
   * a message are in `content`.
   */
  const LEGACY_CONTENTS = ['text', 'file', 'data'] as const;
  const legacyRestPart = protoObjectSchema({
    text,
    file: protoObjectSchema({ fileWithUri: text, fileWithBytes: base64, mimeType: text }).nullish(),
    data: protoObjectSchema({ data: struct }).nullish(),
    metadata: struct,
  }).refine(
    (it) => LEGACY_CONTENTS.filter((name) => it[name] !== undefined && it[name] !== null).length === 1,
    'a part has exactly one of text, file and data',
  );
  const legacyRestMessage = protoObjectSchema({
    ...MESSAGE,
    role: z.literal('ROLE_USER'),
    content: z.array(legacyRestPart).min(1),
  });
  const legacyRestPush = protoObjectSchema({
    ...ADDRESS,
    authentication: protoObjectSchema(LEGACY_AUTHENTICATION).nullish(),
  });
  const legacyRestSend = z.preprocess(
    withMessage,
    protoObjectSchema({
      message: legacyRestMessage,
      configuration: protoObjectSchema({
        acceptedOutputModes: texts,
        historyLength: count.nullish(),
        blocking: flag,
        pushNotification: legacyRestPush.nullish(),
      }).nullish(),
      metadata: struct,
    }),
  );

  return {
    SendMessage: send,
    SendStreamingMessage: send,
    GetTask: protoObjectSchema({ id: taskId, historyLength: count.nullish() }),
    ListTasks: protoObjectSchema(LIST),
    CancelTask: protoObjectSchema(TASK),
    SubscribeToTask: protoObjectSchema(TASK),
    CreateTaskPushNotificationConfig: protoObjectSchema({ ...PUSH, taskId }),
    GetTaskPushNotificationConfig: protoObjectSchema({ taskId, id: z.string().min(1) }),
    ListTaskPushNotificationConfigs: protoObjectSchema({
      taskId,
      pageSize: count.nullish(),
      pageToken: text,
    }),
    DeleteTaskPushNotificationConfig: protoObjectSchema({ taskId, id: z.string().min(1) }),
    /** The query of ListTasks over HTTP+JSON. A2A 1.0 §11.5: a boolean is the word `true` or `false`. */
    'GET /tasks': protoObjectSchema({
      ...LIST,
      includeArtifacts: z.stringbool({ truthy: ['true'], falsy: ['false'], case: 'sensitive' }).optional(),
    }),
    'message/send': legacySend,
    'message/stream': legacySend,
    'tasks/get': legacyTask,
    'tasks/cancel': legacyTask,
    'tasks/resubscribe': legacyTask,
    'tasks/pushNotificationConfig/set': legacyFields({ taskId, pushNotificationConfig: legacyPush }),
    'tasks/pushNotificationConfig/get': legacyFields({ ...TASK, pushNotificationConfigId: optionalId }),
    'tasks/pushNotificationConfig/list': legacyFields(TASK),
    'tasks/pushNotificationConfig/delete': legacyFields({
      ...TASK,
      pushNotificationConfigId: z.string().min(1),
    }),
    'GET /v1/tasks/{id}': protoObjectSchema({ historyLength: count.nullish() }),
    'POST /v1/message': legacyRestSend,
    'POST /v1/tasks/{id}/pushNotificationConfigs': z.preprocess(
      withoutConfigField,
      protoObjectSchema({ pushNotificationConfig: legacyRestPush }),
    ),
  } as const;
});

/**
 * Checks the parameters of a request. Returns them for the SDK's codec. If the operation has no schema, returns them
 * unchanged.
 * @param operation a JSON-RPC method, or the name of a request with its own schema
 * @throws ProductError MALFORMED, which names each wrong field
 */
export function checkRequestParams(operation: string, params: unknown): unknown {
  const schema = isChecked(operation) ? requestSchemas()[operation] : undefined;
  return schema === undefined
    ? params
    : validateRequestInput(schema, params, `The parameters of ${operation} are not valid`);
}

function isChecked(operation: string): operation is keyof ReturnType<typeof requestSchemas> {
  return Object.hasOwn(requestSchemas(), operation);
}
