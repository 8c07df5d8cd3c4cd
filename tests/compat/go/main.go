// A client from the stubs that protoc makes of our .proto files: one inference, unary and over a
// stream, and one that is refused. With several servers it shares calls among them by their load
// reports, and prints how many each answers.
//
//	infer ADDRESS MODEL
//	infer ADDRESS,ADDRESS MODEL out-of-band|beside-answers
//
// MODEL takes x:FP32[-1,4] and gives it back as OUTPUT0. Exit code 0: all was as it has to be.
package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	pb "mpsd.test/infer/inference"
)

const timeLimit = 30 * time.Second

func request(model, id string, numbers []float32) *pb.ModelInferRequest {
	var raw bytes.Buffer
	for _, number := range numbers {
		binary.Write(&raw, binary.LittleEndian, number)
	}
	return &pb.ModelInferRequest{
		ModelName: model,
		Id:        id,
		Inputs: []*pb.ModelInferRequest_InferInputTensor{{
			Name: "x", Datatype: "FP32", Shape: []int64{1, int64(len(numbers))}}},
		RawInputContents: [][]byte{raw.Bytes()},
	}
}

// check says what is wrong with the answer to a request.
func check(asked *pb.ModelInferRequest, answer *pb.ModelInferResponse) error {
	if answer.GetModelName() != asked.ModelName || answer.GetId() != asked.Id {
		return fmt.Errorf("an answer of %q to %q", answer.GetModelName(), answer.GetId())
	}
	if len(answer.Outputs) != 1 || answer.Outputs[0].Name != "OUTPUT0" ||
		answer.Outputs[0].Datatype != "FP32" {
		return fmt.Errorf("outputs %v", answer.Outputs)
	}
	if !bytes.Equal(answer.RawOutputContents[0], asked.RawInputContents[0]) {
		return fmt.Errorf("contents %x", answer.RawOutputContents[0])
	}
	return nil
}

func infer(ctx context.Context, client pb.GRPCInferenceServiceClient, model string) error {
	asked := request(model, "unary", []float32{1, 2, 3, 4})
	answer, err := client.ModelInfer(ctx, asked)
	if err != nil {
		return err
	}
	return check(asked, answer)
}

func inferOverStream(ctx context.Context, client pb.GRPCInferenceServiceClient, model string) error {
	stream, err := client.ModelStreamInfer(ctx)
	if err != nil {
		return err
	}
	asked := request(model, "stream", []float32{5, 6, 7, 8})
	if err := stream.Send(asked); err != nil {
		return err
	}
	answer, err := stream.Recv()
	if err != nil {
		return err
	}
	if answer.ErrorMessage != "" {
		return fmt.Errorf("in band: %s", answer.ErrorMessage)
	}
	return check(asked, answer.InferResponse)
}

func inferWrongly(ctx context.Context, client pb.GRPCInferenceServiceClient, model string) error {
	_, err := client.ModelInfer(ctx, request(model, "", []float32{1}))
	if status.Code(err) != codes.InvalidArgument {
		return fmt.Errorf("a wrong shape ended with %v", err)
	}
	return nil
}

func run(address, model string) error {
	connection, err := grpc.NewClient(address,
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer connection.Close()
	client := pb.NewGRPCInferenceServiceClient(connection)
	ctx, cancel := context.WithTimeout(context.Background(), timeLimit)
	defer cancel()
	for _, step := range []func(context.Context, pb.GRPCInferenceServiceClient, string) error{
		infer, inferOverStream, inferWrongly} {
		if err := step(ctx, client, model); err != nil {
			return err
		}
	}
	return nil
}

func main() {
	var err error
	switch len(os.Args) {
	case 3:
		if err = run(os.Args[1], os.Args[2]); err == nil {
			fmt.Println("all answers are right")
		}
	case 4:
		err = balance(os.Args[1], os.Args[2], os.Args[3])
	default:
		fmt.Fprintln(os.Stderr, "infer ADDRESS[,ADDRESS] MODEL [out-of-band|beside-answers]")
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "infer:", err)
		os.Exit(1)
	}
}
