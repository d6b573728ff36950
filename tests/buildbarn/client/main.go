// Command client has one action executed by a Remote Execution farm: uploads its inputs, executes it,
// downloads its outputs and prints as JSON what became of it.
//
//	client STORE SCHEDULER [OPTION...] -- ARGUMENT...
//
//	-input FILE      goes into the action's directory under its own name; may be repeated
//	-output NAME     is downloaded to the file DIR/NAME; may be repeated
//	-download DIR    (.)
//	-env NAME=VALUE  may be repeated
//	-timeout TIME    of the action; 0 is the scheduler's
//	-salt TEXT       tells actions apart that are otherwise the same
//	-no-cache        neither takes the result from the cache nor puts it there
//	-retries N       after UNAVAILABLE, as build tools do
package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"log"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	remoteexecution "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
)

const messageBytes = 16 << 20

type words []string

func (w *words) String() string { return strings.Join(*w, " ") }

func (w *words) Set(word string) error {
	*w = append(*w, word)
	return nil
}

// told is what became of an action.
type told struct {
	Code       string   `json:"code"`
	Message    string   `json:"message"`
	ExitCode   int32    `json:"exit_code"`
	Cached     bool     `json:"cached"`
	Stdout     string   `json:"stdout"`
	Stderr     string   `json:"stderr"`
	Outputs    []string `json:"outputs"`
	Usage      []string `json:"usage"`
	ServerLogs []string `json:"server_logs"`
	Attempts   int      `json:"attempts"`
}

// farm is the connection to one.
type farm struct {
	blobs     remoteexecution.ContentAddressableStorageClient
	results   remoteexecution.ActionCacheClient
	execution remoteexecution.ExecutionClient
}

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal("client: ", err)
	}
	return value
}

func connect(socket string) *grpc.ClientConn {
	return must(grpc.NewClient("unix:"+must(filepath.Abs(socket)),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(messageBytes), grpc.WaitForReady(true))))
}

// upload is what the store will have, by digest.
type upload []*remoteexecution.BatchUpdateBlobsRequest_Request

func (u *upload) add(data []byte) *remoteexecution.Digest {
	sum := sha256.Sum256(data)
	digest := &remoteexecution.Digest{Hash: hex.EncodeToString(sum[:]), SizeBytes: int64(len(data))}
	*u = append(*u, &remoteexecution.BatchUpdateBlobsRequest_Request{Digest: digest, Data: data})
	return digest
}

func (u *upload) message(m proto.Message) *remoteexecution.Digest {
	return u.add(must(proto.MarshalOptions{Deterministic: true}.Marshal(m)))
}

// send uploads what the store lacks.
func (f *farm) send(ctx context.Context, all upload) {
	request := &remoteexecution.FindMissingBlobsRequest{}
	for _, blob := range all {
		request.BlobDigests = append(request.BlobDigests, blob.Digest)
	}
	missing := must(f.blobs.FindMissingBlobs(ctx, request)).MissingBlobDigests
	update := &remoteexecution.BatchUpdateBlobsRequest{}
	for _, blob := range all {
		if slices.ContainsFunc(missing, func(d *remoteexecution.Digest) bool { return proto.Equal(d, blob.Digest) }) {
			update.Requests = append(update.Requests, blob)
		}
	}
	for _, response := range must(f.blobs.BatchUpdateBlobs(ctx, update)).Responses {
		if response.Status.GetCode() != 0 {
			log.Fatal("client: upload: ", response.Status.GetMessage())
		}
	}
}

func (f *farm) fetch(ctx context.Context, digest *remoteexecution.Digest) []byte {
	response := must(f.blobs.BatchReadBlobs(ctx, &remoteexecution.BatchReadBlobsRequest{
		Digests: []*remoteexecution.Digest{digest},
	})).Responses[0]
	if response.Status.GetCode() != 0 {
		log.Fatal("client: download: ", response.Status.GetMessage())
	}
	return response.Data
}

// inlined is text that came with the result, or that the store has.
func (f *farm) inlined(ctx context.Context, raw []byte, digest *remoteexecution.Digest) string {
	if len(raw) == 0 && digest.GetSizeBytes() > 0 {
		raw = f.fetch(ctx, digest)
	}
	return string(raw)
}

// cached is the result of the same action before, if there is one: it is the client that asks for it.
func (f *farm) cached(ctx context.Context, request *remoteexecution.ExecuteRequest) *remoteexecution.ExecuteResponse {
	result, err := f.results.GetActionResult(ctx, &remoteexecution.GetActionResultRequest{ActionDigest: request.ActionDigest})
	if status.Code(err) == codes.NotFound {
		return nil
	}
	return &remoteexecution.ExecuteResponse{Result: must(result, err), CachedResult: true}
}

func (f *farm) execute(ctx context.Context, request *remoteexecution.ExecuteRequest) *remoteexecution.ExecuteResponse {
	stream := must(f.execution.Execute(ctx, request))
	for {
		response := &remoteexecution.ExecuteResponse{}
		operation, err := stream.Recv()
		if err != nil {
			response.Status = status.Convert(err).Proto()
			return response
		}
		if !operation.Done {
			continue
		}
		if failed := operation.GetError(); failed != nil {
			response.Status = failed
		} else if err := operation.GetResponse().UnmarshalTo(response); err != nil {
			log.Fatal("client: ", err)
		}
		return response
	}
}

// options are what the command line says of the action.
type options struct {
	inputs, outputs, variables words
	arguments                  []string
	download, salt             string
	timeout                    time.Duration
	noCache                    bool
	retries                    int
}

func parse(line []string) *options {
	o := &options{}
	flags := flag.NewFlagSet("client", flag.ExitOnError)
	flags.Var(&o.inputs, "input", "")
	flags.Var(&o.outputs, "output", "")
	flags.Var(&o.variables, "env", "")
	flags.StringVar(&o.download, "download", ".", "")
	flags.DurationVar(&o.timeout, "timeout", 0, "")
	flags.StringVar(&o.salt, "salt", "", "")
	flags.BoolVar(&o.noCache, "no-cache", false, "")
	flags.IntVar(&o.retries, "retries", 0, "")
	flags.Parse(line)
	o.arguments = flags.Args()
	slices.Sort(o.outputs)
	slices.Sort(o.variables)
	return o
}

// root is the action's directory.
func (o *options) root(all *upload) *remoteexecution.Directory {
	root := &remoteexecution.Directory{}
	for _, path := range o.inputs {
		info := must(os.Stat(path))
		root.Files = append(root.Files, &remoteexecution.FileNode{
			Name:         filepath.Base(path),
			Digest:       all.add(must(os.ReadFile(path))),
			IsExecutable: info.Mode()&0o100 != 0,
		})
	}
	slices.SortFunc(root.Files, func(a, b *remoteexecution.FileNode) int { return strings.Compare(a.Name, b.Name) })
	return root
}

// request is that for the action, and all that the store needs for it.
func (o *options) request(all *upload) *remoteexecution.ExecuteRequest {
	command := &remoteexecution.Command{Arguments: o.arguments, OutputPaths: o.outputs}
	for _, variable := range o.variables {
		name, value, _ := strings.Cut(variable, "=")
		command.EnvironmentVariables = append(command.EnvironmentVariables,
			&remoteexecution.Command_EnvironmentVariable{Name: name, Value: value})
	}
	action := &remoteexecution.Action{
		CommandDigest:   all.message(command),
		InputRootDigest: all.message(o.root(all)),
		DoNotCache:      o.noCache,
		Salt:            []byte(o.salt),
		Platform:        &remoteexecution.Platform{},
	}
	if o.timeout > 0 {
		action.Timeout = durationpb.New(o.timeout)
	}
	return &remoteexecution.ExecuteRequest{ActionDigest: all.message(action), SkipCacheLookup: o.noCache}
}

// run has the action executed, again if it was told to try again; and counts.
func (o *options) run(ctx context.Context, f *farm, request *remoteexecution.ExecuteRequest) (response *remoteexecution.ExecuteResponse, attempts int) {
	if !o.noCache {
		response = f.cached(ctx, request)
	}
	for response == nil || codes.Code(response.Status.GetCode()) == codes.Unavailable && attempts <= o.retries {
		if attempts++; attempts > 1 {
			time.Sleep(time.Second)
		}
		response = f.execute(ctx, request)
	}
	return response, attempts
}

// tell downloads what the action has made and sums up what became of it.
func (o *options) tell(ctx context.Context, f *farm, response *remoteexecution.ExecuteResponse) *told {
	t := &told{
		Code:       codes.Code(response.Status.GetCode()).String(),
		Message:    response.Status.GetMessage(),
		Cached:     response.CachedResult,
		ServerLogs: slices.Sorted(maps.Keys(response.ServerLogs)),
	}
	result := response.Result
	if result == nil {
		return t
	}
	t.ExitCode = result.ExitCode
	t.Stdout = f.inlined(ctx, result.StdoutRaw, result.StdoutDigest)
	t.Stderr = f.inlined(ctx, result.StderrRaw, result.StderrDigest)
	for _, data := range result.GetExecutionMetadata().GetAuxiliaryMetadata() {
		t.Usage = append(t.Usage, strings.TrimPrefix(data.TypeUrl, "type.googleapis.com/"))
	}
	for _, file := range result.OutputFiles {
		mode := os.FileMode(0o644)
		if file.IsExecutable {
			mode = 0o755
		}
		if err := os.WriteFile(filepath.Join(o.download, file.Path), f.fetch(ctx, file.Digest), mode); err != nil {
			log.Fatal("client: ", err)
		}
		t.Outputs = append(t.Outputs, file.Path)
	}
	return t
}

func main() {
	log.SetFlags(0)
	if len(os.Args) < 3 {
		log.Fatal("usage: client STORE SCHEDULER [OPTION...] -- ARGUMENT...")
	}
	o := parse(os.Args[3:])
	ctx := context.Background()
	store := connect(os.Args[1])
	f := &farm{
		blobs:     remoteexecution.NewContentAddressableStorageClient(store),
		results:   remoteexecution.NewActionCacheClient(store),
		execution: remoteexecution.NewExecutionClient(connect(os.Args[2])),
	}
	var all upload
	request := o.request(&all)
	f.send(ctx, all)
	response, attempts := o.run(ctx, f, request)
	result := o.tell(ctx, f, response)
	result.Attempts = attempts
	json.NewEncoder(os.Stdout).Encode(result)
}
